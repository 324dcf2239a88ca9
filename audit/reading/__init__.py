"""From files to records in the order of their times: audit events in every wrapping, events, the scheduler's log and metrics."""
