"""What a finding shows of the model: its steps in words, what components know before and after, causes, who acts beside the scheduler."""
