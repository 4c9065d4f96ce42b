"""Twelve tasks: what the traveller wants, what is right, and how an agent works.

An agent is a generator. It yields Call(tool, arguments) or Say(text, topic),
and is sent the tool's answer or the user's reply. Its choices are drawn from a
random generator, and some of them are wrong: the outcome is not written here
but found by comparing databases (make.py). A topic only tells the simulated
user what is being asked; it is not part of the record.
"""

import json
from dataclasses import dataclass, field


@dataclass
class Call:
    name: str
    arguments: dict


@dataclass
class Say:
    text: str
    topic: str


@dataclass
class Task:
    user_id: str
    instruction: str
    opening: list
    agent: object
    actions: list
    trials: int
    answers: dict = field(default_factory=dict)
    outputs: list = field(default_factory=list)


class User:
    """The simulated traveller: answers by topic, now and then with a slip or a question."""

    DONE = [
        "No, that's everything. Thanks! ###STOP###",
        "That was all, thank you very much. ###STOP###",
        "Great, thanks for your help. ###STOP###",
    ]
    YES = ["Yes, please.", "Yes, go ahead.", "Yes, that's right, please do it."]

    def __init__(self, task, rng):
        self.task, self.rng = task, rng
        self.slips = rng.random() < 0.12
        self.asks = rng.random() < 0.25

    def reply(self, topic):
        rng, user_id = self.rng, self.task.user_id
        if topic == "id":
            if self.slips:
                self.slips = False
                return f"It's {user_id[:-1]}{(int(user_id[-1]) + 1) % 10}."
            return rng.choice([f"My user id is {user_id}.", f"Sure, it's {user_id}.", f"{user_id}"])
        if topic == "id again":
            return f"Oh, sorry, a typo. It is {user_id}."
        if topic == "confirm":
            if self.asks:
                self.asks = False
                return rng.choice(["Before I say yes: is there any further fee?", "And nothing else changes, right?"])
            return rng.choice(self.YES)
        if topic == "done":
            return rng.choice(self.DONE)
        if topic == "refused":
            return self.task.answers.get("refused", "That's a pity, but I understand. ###STOP###")
        return self.task.answers.get(topic, "I have nothing to add, please go on.")


# What every agent does


def identify(rng):
    """Ask for the user id until the profile is found; return (user id, profile)."""
    reply = yield Say(
        rng.choice(
            [
                "I'll gladly help with that. May I have your user id, please?",
                "Of course. Could you tell me your user id first?",
            ]
        ),
        "id",
    )
    while True:
        user_id = next(word.strip(".,") for word in reply.split() if word.count("_") == 2)
        answer = yield Call("get_user_details", {"user_id": user_id})
        if not answer.startswith("Error"):
            return user_id, json.loads(answer)
        reply = yield Say(f"I could not find a profile for {user_id}. Could you check the id, please?", "id again")


def reservation(rng, code):
    """Read a reservation, now and then with its code in lower case at first."""
    if rng.random() < 0.12:
        yield Call("get_reservation_details", {"reservation_id": code.lower()})
    answer = yield Call("get_reservation_details", {"reservation_id": code})
    return json.loads(answer)


def ask_yes(summary):
    """State what will be done and wait for the yes."""
    reply = yield Say(f"{summary} Shall I go ahead?", "confirm")
    while not reply.startswith("Yes"):
        reply = yield Say("No, nothing beyond what I listed. Shall I go ahead?", "confirm")


def goodbye(rng, done):
    yield Say(f"{done} {rng.choice(['Is there anything else?', 'Anything else I can do for you?'])}", "done")


def ponder(rng, thought, chance=0.35):
    if rng.random() < chance:
        yield Call("think", {"thought": thought})


def sum_up(rng, expression, chance=0.6):
    if rng.random() < chance:
        yield Call("calculate", {"expression": expression})


def find(flights, number):
    return next(flight for flight in flights if flight["flight_number"] == number)


def flights_on(origin, destination, date):
    answer = yield Call("search_direct_flight", {"origin": origin, "destination": destination, "date": date})
    return json.loads(answer)


def passenger(profile):
    return {**profile["name"], "dob": profile["dob"]}


def hand_over(summary):
    yield Call("transfer_to_human_agents", {"summary": summary})


# 0: book after eleven, two bags


def book_after_eleven(rng):
    user_id, profile = yield from identify(rng)
    yield Say(
        "Thank you, Ada. Which cabin, how many bags, any insurance, and how would you like to pay?", "details"
    )
    flights = yield from flights_on("ALD", "LUM", "2025-03-16")
    heeds_time = rng.random() < 0.7
    if heeds_time:
        yield from ponder(rng, "Only CA103 and CA105 leave after 11:00. CA105 is cheaper in economy.")
    choice = find(flights, "CA105" if heeds_time else "CA101")
    price = choice["prices"]["economy"]
    nonfree = 1 if rng.random() < 0.3 else 0
    total = price + 50 * nonfree
    if nonfree:
        yield from sum_up(rng, f"{price} + 50")
    yield from ask_yes(
        f"Flight {choice['flight_number']} on March 16 leaves at {choice['departure_time']} and costs ${price} in economy. "
        f"With two bags ({nonfree} of them charged) and no insurance the total is ${total}, on your card ending in 5510."
    )
    yield Call(
        "book_reservation",
        {
            "user_id": user_id,
            "origin": "ALD",
            "destination": "LUM",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": choice["flight_number"], "date": "2025-03-16"}],
            "passengers": [passenger(profile)],
            "payment_methods": [{"payment_id": "card_5510", "amount": total}],
            "total_baggages": 2,
            "nonfree_baggages": nonfree,
            "insurance": "no",
        },
    )
    yield from goodbye(rng, "Your flight is booked.")


# 1: a misspelt name


def correct_name(rng):
    yield from identify(rng)
    booked = yield from reservation(rng, "TQ4MZA")
    people = booked["passengers"]
    yield from ponder(rng, "Names can be corrected as long as the number of passengers stays the same.")
    yield from ask_yes("I will change the passenger's first name from Bran to Bram on TQ4MZA, free of charge.")
    if rng.random() < 0.25:
        # Adds the new name instead of replacing the old one: the tool refuses.
        yield Call(
            "update_reservation_passengers",
            {"reservation_id": "TQ4MZA", "passengers": people + [{**people[0], "first_name": "Bram"}]},
        )
    yield Call(
        "update_reservation_passengers",
        {"reservation_id": "TQ4MZA", "passengers": [{**people[0], "first_name": "Bram"}]},
    )
    yield from goodbye(rng, "The name is corrected.")


# 2: a cancellation that must be refused


def refuse_cancellation(rng):
    yield from identify(rng)
    yield Say("Thank you, Cleo. Why would you like to cancel PL8XWN?", "reason")
    yield from reservation(rng, "PL8XWN")
    yield from ponder(rng, "Booked on February 20, economy, no insurance: none of the three conditions holds.", 0.5)
    if rng.random() < 0.55:
        yield Say(
            "I'm sorry, this reservation is economy without insurance and was booked more than 24 hours ago, "
            "so I cannot cancel it.",
            "insist",
        )
        if rng.random() < 0.7:
            yield Say("I understand, but the rules leave no exception here.", "refused")
        else:
            yield from hand_over("The user insists on cancelling PL8XWN, which the rules do not allow.")
        return
    yield from ask_yes("I can cancel PL8XWN and refund $125 to your card ending in 9071.")
    yield Call("cancel_reservation", {"reservation_id": "PL8XWN"})
    yield from goodbye(rng, "PL8XWN is cancelled, and the refund is on its way.")


# 3: two more bags, from the gift card


def add_bags(rng):
    yield from identify(rng)
    booked = yield from reservation(rng, "RB2KHE")
    reads_rules = rng.random() < 0.6
    if reads_rules:
        yield from ponder(rng, "Regular member in economy: one free bag. Three bags make two that are charged.", 0.6)
    nonfree = 2 if reads_rules else 3
    yield from sum_up(rng, f"{nonfree} * 50")
    method = "gift_3310"
    if rng.random() < 0.75:
        yield Say("How would you like to pay for the bags?", "payment")
    elif rng.random() < 0.6:
        method = "card_4402"
    yield from ask_yes(
        f"RB2KHE will have {booked['total_baggages'] + 2} bags, {nonfree} of them at $50, ${50 * nonfree} in total, "
        f"paid with {method}."
    )
    yield Call(
        "update_reservation_baggages",
        {"reservation_id": "RB2KHE", "total_baggages": 3, "nonfree_baggages": nonfree, "payment_id": method},
    )
    yield from goodbye(rng, "The bags are added.")


# 4: another date, with the afternoon flight sold out


def move_flight(rng):
    yield from identify(rng)
    booked = yield from reservation(rng, "VN6DCS")
    old = booked["flights"][0]["price"]
    searches = rng.random() < 0.65
    if searches:
        flights = yield from flights_on("KES", "NVK", "2025-03-17")
    number, date, cabin, method = "CA310", "2025-03-17", "economy", "gift_8846"
    if not searches:
        yield from ask_yes("I will move VN6DCS to flight CA312 on March 17, and settle the difference with your gift card.")
        answer = yield Call(
            "update_reservation_flights",
            {
                "reservation_id": "VN6DCS",
                "cabin": cabin,
                "flights": [{"flight_number": "CA312", "date": date}],
                "payment_id": method,
            },
        )
        yield from ponder(rng, f"The tool says: {answer[7:]}. I need to look at the other flights.", 0.5)
        flights = yield from flights_on("KES", "NVK", "2025-03-17")
    if rng.random() < 0.65:
        yield Say(
            "The afternoon flight on March 17 has no economy seats left. The morning flight CA310 at 08:15 has. "
            "Would that do?",
            "morning",
        )
    else:
        number, cabin = "CA312", "business"
    price = find(flights, number)["prices"][cabin]
    yield from sum_up(rng, f"{price} - {old}")
    if rng.random() < 0.2:
        method = "card_7713"
    yield from ask_yes(
        f"VN6DCS moves to {number} on March 17 in {cabin}. The difference is ${price - old}, paid with {method}."
    )
    yield Call(
        "update_reservation_flights",
        {
            "reservation_id": "VN6DCS",
            "cabin": cabin,
            "flights": [{"flight_number": number, "date": date}],
            "payment_id": method,
        },
    )
    yield from goodbye(rng, "Your flight is changed.")


# 5: an insured cancellation


def cancel_insured(rng):
    yield from identify(rng)
    yield from reservation(rng, "HW9TJP")
    yield from ask_yes("HW9TJP is insured, so I can cancel it and refund $171 to your card ending in 6120.")
    yield Call("cancel_reservation", {"reservation_id": "HW9TJP"})
    yield from goodbye(rng, "HW9TJP is cancelled.")


# 6: an upgrade, and what it costs


def upgrade(rng):
    yield from identify(rng)
    booked = yield from reservation(rng, "ZC3FUY")
    flights = yield from flights_on("ALD", "LUM", "2025-03-18")
    old, new = booked["flights"][0]["price"], find(flights, "CA103")["prices"]["business"]
    if rng.random() < 0.6:
        yield from sum_up(rng, f"{new} - {old}", 0.8)
        text = f"Business on CA103 costs ${new}, you paid ${old}, so the upgrade costs ${new - old} on your card ending in 3094."
    else:
        text = f"Business on CA103 costs ${new}, charged to your card ending in 3094."
    yield from ask_yes(text)
    if rng.random() < 0.2:
        # Mistypes the flight: there is no such number.
        yield Call(
            "update_reservation_flights",
            {
                "reservation_id": "ZC3FUY",
                "cabin": "business",
                "flights": [{"flight_number": "CA130", "date": "2025-03-18"}],
                "payment_id": "card_3094",
            },
        )
    yield Call(
        "update_reservation_flights",
        {
            "reservation_id": "ZC3FUY",
            "cabin": "business",
            "flights": [{"flight_number": "CA103", "date": "2025-03-18"}],
            "payment_id": "card_3094",
        },
    )
    yield from goodbye(rng, "You now travel in business.")


# 7: compensation for a delay


def compensate(rng):
    user_id, _ = yield from identify(rng)
    refuses = rng.random() < 0.25
    amount = 50
    if refuses or rng.random() < 0.75:
        yield from reservation(rng, "MK5RLA")
        amount = 100
    if refuses:
        yield from ponder(rng, "The flight was delayed but not cancelled, so there is nothing to pay.", 0.6)
        yield Say("I'm very sorry about the delay. Compensation is only paid for cancelled flights.", "refused")
        return
    if amount == 100:
        yield from ponder(rng, "A gold member with two passengers, and the flight was delayed: $50 for each of the two.", 0.6)
    yield from ask_yes(f"I'm sorry about the delay. I can send you a certificate of ${amount}.")
    yield Call("send_certificate", {"user_id": user_id, "amount": amount})
    yield from goodbye(rng, "The certificate is in your profile.")


# 8: cancel one, book another


def cancel_and_rebook(rng):
    user_id, profile = yield from identify(rng)
    yield from reservation(rng, "XG7QBD")
    if rng.random() < 0.2:
        # Never settles: looks up one wrong date after the other, and asks each time.
        days = [12, 13, 14, 15, 16, 18, 19, 20]
        while True:
            day = rng.choice(days)
            yield from flights_on("LUM", "ALD", f"2025-03-{day}")
            yield Say(f"There are two flights on March {day}. Would one of them suit you?", "which day")
    yield from ponder(rng, "XG7QBD is insured, so it can be cancelled. Then book CA202 with the gift card first.")
    yield from ask_yes("XG7QBD is insured: I can cancel it and refund $156 to your card ending in 1985.")
    yield Call("cancel_reservation", {"reservation_id": "XG7QBD"})
    flights = yield from flights_on("LUM", "ALD", "2025-03-17")
    yield Say("It is cancelled. For the new flight: morning or afternoon, how many bags, and which payment?", "new flight")
    price = find(flights, "CA202")["prices"]["economy"]
    split = [{"payment_id": "gift_4471", "amount": 90}, {"payment_id": "card_1985", "amount": price - 90}]
    if rng.random() < 0.4:
        # Tries to pay all with the gift card, and then falls back on the card alone.
        first, payments = [{"payment_id": "gift_4471", "amount": price}], [{"payment_id": "card_1985", "amount": price}]
    else:
        yield from sum_up(rng, f"{price} - 90", 0.7)
        first, payments = None, split
    yield from ask_yes(f"CA202 on March 17 in economy at 09:00 with one bag costs ${price}.")
    arguments = {
        "user_id": user_id,
        "origin": "LUM",
        "destination": "ALD",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "CA202", "date": "2025-03-17"}],
        "passengers": [passenger(profile)],
        "payment_methods": payments,
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    if first:
        yield Call("book_reservation", {**arguments, "payment_methods": first})
        if rng.random() < 0.35:
            yield from ponder(rng, "The gift card holds 90 only. The rest has to go to the card.", 1)
            arguments["payment_methods"] = split
    yield Call("book_reservation", arguments)
    yield from goodbye(rng, "Your new flight is booked.")


# 9: two certificates, of which one can be used


def book_with_certificates(rng):
    user_id, profile = yield from identify(rng)
    flights = yield from flights_on("SMR", "ORM", "2025-03-18")
    price = find(flights, "CA420")["prices"]["economy"]
    yield from sum_up(rng, f"{price} - 60 - 100")
    yield from ask_yes(
        f"CA420 on March 18 costs ${price} in economy. Your two certificates cover $160, the other ${price - 160} goes to "
        "your card ending in 6643."
    )
    arguments = {
        "user_id": user_id,
        "origin": "SMR",
        "destination": "ORM",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "CA420", "date": "2025-03-18"}],
        "passengers": [passenger(profile)],
        "payment_methods": [
            {"payment_id": "certificate_1170", "amount": 60},
            {"payment_id": "certificate_2250", "amount": 100},
            {"payment_id": "card_6643", "amount": price - 160},
        ],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    yield Call("book_reservation", arguments)
    way = rng.choice(["first certificate", "card", "transfer"])
    if way == "transfer":
        yield from hand_over("The user wants to pay with two certificates, which the tool does not accept.")
        return
    if way == "first certificate":
        payments = [
            {"payment_id": "certificate_1170", "amount": 60},
            {"payment_id": "card_6643", "amount": price - 60},
        ]
        yield from ask_yes(f"Only one certificate can be used. I'd take the first, and ${price - 60} from your card.")
    else:
        payments = [{"payment_id": "card_6643", "amount": price}]
        yield from ask_yes(f"The certificates cannot be combined, so I'd charge ${price} to your card.")
    yield Call("book_reservation", {**arguments, "payment_methods": payments})
    yield from goodbye(rng, "The flight is booked.")


# 10: a change that must be refused


def change_basic_economy(rng):
    yield from identify(rng)
    yield from reservation(rng, "JD4SEK")
    flights = yield from flights_on("KES", "NVK", "2025-03-20")
    price = find(flights, "CA312")["prices"]["basic_economy"]
    yield from ask_yes(f"I will move JD4SEK to CA312 on March 20. The new price is ${price}, on your card ending in 5028.")
    yield Call(
        "update_reservation_flights",
        {
            "reservation_id": "JD4SEK",
            "cabin": "basic_economy",
            "flights": [{"flight_number": "CA312", "date": "2025-03-20"}],
            "payment_id": "card_5028",
        },
    )
    yield from goodbye(rng, "Your flight is moved to March 20.")


# 11: cancel what can be cancelled


def cancel_what_can_be(rng):
    yield from identify(rng)
    codes = ["UF2GOX", "BN8CRI", "WE5PHL"]
    looks = codes if rng.random() < 0.7 else codes[:1]
    for code in looks:
        yield from reservation(rng, code)
    if len(looks) == 3:
        if rng.random() < 0.75:
            chosen = ["UF2GOX", "WE5PHL"]
            yield from ponder(rng, "UF2GOX is insured and WE5PHL is business. BN8CRI is neither, so it stays.", 0.6)
        else:
            chosen = ["UF2GOX"]
            yield from ponder(rng, "Only UF2GOX is insured, so only that one can be cancelled.", 0.6)
    else:
        chosen = codes
    yield from ask_yes(f"I can cancel and refund {', '.join(chosen)}.")
    for code in chosen:
        yield Call("cancel_reservation", {"reservation_id": code})
    yield from goodbye(rng, f"{len(chosen)} reservation{'s are' if len(chosen) > 1 else ' is'} cancelled.")


def booking(user_id, first, last, born, leg, payments, bags):
    origin, destination, number, date = leg
    return {
        "name": "book_reservation",
        "kwargs": {
            "user_id": user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": number, "date": date}],
            "passengers": [{"first_name": first, "last_name": last, "dob": born}],
            "payment_methods": [{"payment_id": name, "amount": amount} for name, amount in payments],
            "total_baggages": bags,
            "nonfree_baggages": 0,
            "insurance": "no",
        },
    }


def cancelling(code):
    return {"name": "cancel_reservation", "kwargs": {"reservation_id": code}}


TASKS = [
    Task(
        "ada_quill_3101",
        "You are ada_quill_3101. You want to fly from ALD to LUM on March 16, not before 11:00, in economy, as cheaply as "
        "possible. You have two bags, want no insurance, and pay with your card.",
        [
            "Hello, I'd like to fly from ALD to LUM on March 16, as cheaply as possible, but not before 11 in the morning.",
            "Hi! I need the cheapest flight from ALD to LUM on March 16 that leaves after 11:00.",
        ],
        book_after_eleven,
        [
            booking(
                "ada_quill_3101", "Ada", "Quill", "1988-02-11", ("ALD", "LUM", "CA105", "2025-03-16"), [("card_5510", 135)], 2
            )
        ],
        4,
        {"details": "Economy, two bags, no insurance, and my credit card please."},
    ),
    Task(
        "bram_osei_4720",
        "You are bram_osei_4720. Your first name is misspelt as Bran on reservation TQ4MZA. You want it corrected.",
        ["Hi, my name is spelt wrong on reservation TQ4MZA: it says Bran, but I am Bram."],
        correct_name,
        [
            {
                "name": "update_reservation_passengers",
                "kwargs": {
                    "reservation_id": "TQ4MZA",
                    "passengers": [{"first_name": "Bram", "last_name": "Osei", "dob": "1975-09-30"}],
                },
            }
        ],
        4,
    ),
    Task(
        "cleo_varga_1189",
        "You are cleo_varga_1189. You want to cancel PL8XWN as your plans changed. If the agent refuses, insist once.",
        ["I'd like to cancel my reservation PL8XWN.", "Please cancel PL8XWN for me."],
        refuse_cancellation,
        [],
        4,
        {
            "reason": "My plans have changed.",
            "insist": "But I really cannot travel that day. Can't you make an exception?",
        },
    ),
    Task(
        "dov_lindqvist_6604",
        "You are dov_lindqvist_6604. You want to add two bags to RB2KHE and pay with your gift card.",
        [
            "I want to add two more bags to my reservation RB2KHE.",
            "Hello! Could you add two bags to RB2KHE for me?",
        ],
        add_bags,
        [
            {
                "name": "update_reservation_baggages",
                "kwargs": {
                    "reservation_id": "RB2KHE",
                    "total_baggages": 3,
                    "nonfree_baggages": 2,
                    "payment_id": "gift_3310",
                },
            }
        ],
        5,
        {"payment": "With my gift card, please."},
    ),
    Task(
        "esi_marlow_2957",
        "You are esi_marlow_2957. You want to move VN6DCS to March 17, in the afternoon if there is an economy seat, else in "
        "the morning. You pay with your gift card.",
        [
            "I need to move my flight VN6DCS to March 17, preferably in the afternoon. I'd pay with my gift card.",
        ],
        move_flight,
        [
            {
                "name": "update_reservation_flights",
                "kwargs": {
                    "reservation_id": "VN6DCS",
                    "cabin": "economy",
                    "flights": [{"flight_number": "CA310", "date": "2025-03-17"}],
                    "payment_id": "gift_8846",
                },
            }
        ],
        4,
        {"morning": "If there's no economy seat in the afternoon, the morning is fine."},
    ),
    Task(
        "finn_okoro_8035",
        "You are finn_okoro_8035. You are ill and want to cancel HW9TJP, which is insured.",
        ["I'm ill and have to cancel my trip HW9TJP."],
        cancel_insured,
        [cancelling("HW9TJP")],
        1,
    ),
    Task(
        "gia_tamura_5542",
        "You are gia_tamura_5542. You want to upgrade ZC3FUY to business and know what the upgrade costs. You pay by card.",
        [
            "I'd like to upgrade ZC3FUY to business. What is the difference in price?",
            "What would it cost to upgrade my reservation ZC3FUY to business? I'd like to do it.",
        ],
        upgrade,
        [
            {
                "name": "update_reservation_flights",
                "kwargs": {
                    "reservation_id": "ZC3FUY",
                    "cabin": "business",
                    "flights": [{"flight_number": "CA103", "date": "2025-03-18"}],
                    "payment_id": "card_3094",
                },
            }
        ],
        4,
        outputs=["209"],
    ),
    Task(
        "hugo_brandt_7716",
        "You are hugo_brandt_7716. Your flight MK5RLA yesterday was delayed. You ask for compensation.",
        ["My flight yesterday, MK5RLA, was badly delayed. I expect some compensation."],
        compensate,
        [{"name": "send_certificate", "kwargs": {"user_id": "hugo_brandt_7716", "amount": 100}}],
        3,
        {"refused": "That is disappointing for a gold member. Goodbye. ###STOP###"},
    ),
    Task(
        "iris_novak_9263",
        "You are iris_novak_9263. You want to cancel XG7QBD and fly on March 17 in the morning instead, in economy with one "
        "bag, paid with the whole gift card and the rest by card.",
        ["I'd like to cancel XG7QBD and book a flight from LUM to ALD on March 17 instead."],
        cancel_and_rebook,
        [
            cancelling("XG7QBD"),
            booking(
                "iris_novak_9263", "Iris", "Novak", "1990-03-03", ("LUM", "ALD", "CA202", "2025-03-17"),
                [("gift_4471", 90), ("card_1985", 56)], 1,
            ),
        ],
        5,
        {
            "new flight": "In the morning, one bag, no insurance. Use up my gift card and take the rest from my card.",
            "which day": "As I said, it should be March 17.",
        },
    ),
    Task(
        "joel_ferrant_3378",
        "You are joel_ferrant_3378. You want to fly from SMR to ORM on March 18 in economy without bags. You want to use both "
        "certificates; if only one can be used, the larger one, and your card for the rest.",
        ["I'd like to book SMR to ORM on March 18, economy, no bags, and pay with my certificates."],
        book_with_certificates,
        [
            booking(
                "joel_ferrant_3378", "Joel", "Ferrant", "1983-11-26", ("SMR", "ORM", "CA420", "2025-03-18"),
                [("certificate_2250", 100), ("card_6643", 67)], 0,
            )
        ],
        4,
    ),
    Task(
        "kaya_dunmore_4409",
        "You are kaya_dunmore_4409. You want to move your basic economy flight JD4SEK to March 20.",
        ["Please move my flight JD4SEK one day later, to March 20."],
        change_basic_economy,
        [],
        1,
    ),
    Task(
        "lev_abara_6891",
        "You are lev_abara_6891. You want to cancel all of your reservations that can be cancelled with a refund.",
        [
            "I have three reservations: UF2GOX, BN8CRI and WE5PHL. Please cancel all of them that can be refunded.",
        ],
        cancel_what_can_be,
        [cancelling("UF2GOX"), cancelling("WE5PHL")],
        4,
    ),
]
