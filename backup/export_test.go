package backup

// CreateOn and RepairOn are like Create and Repair, on a given file system.
var (
	CreateOn = createOn
	RepairOn = repairOn
)
