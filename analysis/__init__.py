"""What podrace does with a scenario: plan, trace, check, compare, prove, replay; the commands only ask and print."""
