package backup

// CreateOn and RepairOn are Create and Repair on a file system of the caller's.
var (
	CreateOn = createOn
	RepairOn = repairOn
)
