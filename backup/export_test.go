package backup

// CreateOn and RepairOn are Create and Repair on a given file system.
var (
	CreateOn = createOn
	RepairOn = repairOn
)
