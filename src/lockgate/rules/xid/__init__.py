"""XIDs, the driver's own reports of trouble: a rule a family of codes (section K of the failure catalogue)."""
