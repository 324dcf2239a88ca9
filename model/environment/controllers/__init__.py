"""Who makes pods to replace those that are gone, and who takes pods away to have them placed anew: controllers and the descheduler."""
