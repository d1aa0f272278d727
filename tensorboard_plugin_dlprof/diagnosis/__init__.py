"""What each GPU did at every moment, and why it was idle: the one computation that everything else reads.

``recording`` holds what was recorded, ``idle`` finds the causes of idle time in it, ``activity`` joins them with the
busy time into one partition, ``stored`` reads that from a database, ``clip`` cuts it to windows, ``windows`` finds the
typical iterations, ``queue`` how much work was waiting, and ``answer`` says it all.
"""
