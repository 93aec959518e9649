"""Does a reasoning agree with a verified measurement? The rules of internal/xragent, plainly (clause.go, phrases.go,
statements.go, quotes.go)."""

import math
import re

from words import (CUE, EARLIER, HARD, HEART, LIMITS, LOUD, LUNGS, MIDLINE, MUTING, NEGATORS, NOUNS, REWRITES, SIDE, SUBJECT,
                   VERBS)

LEXEME = re.compile(
    r"[a-z][a-z']*|[-+]?[0-9]+(?:\.[0-9]+)?(?:[ \t\n\f\r]*(?:%|(?:percent|per cent)(?![A-Za-z0-9_])))?|[,()<>.;!?\n:]")
SENTENCE = re.compile(r"[;!?\n]|\.(?!(?<=[0-9]\.)[0-9])")
WORD = re.compile(r"[a-z]+")
DIGIT = re.compile(r"[0-9]")
ADJECTIVE = frozenset("large small normal equal unequal moved central".split())
TOLERANCE = {HEART: 2, LUNGS: 3, MIDLINE: 3}


class Token:
    """A word, a comma or a number of a clause, with what the tables say of it."""

    __slots__ = ("text", "subject", "cue", "verb", "negator", "noun", "number", "cents")

    def __init__(self, text, number=False, cents=0):
        self.text, self.number, self.cents = text, number, cents
        self.subject, self.cue = SUBJECT.get(text), CUE.get(text)
        self.verb, self.negator, self.noun = text in VERBS, text in NEGATORS, text in NOUNS


def hundredths(value):
    """Nearest hundredth, halves away from zero."""
    value *= 100
    whole = math.trunc(value)
    return int(whole + math.copysign(1, value)) if abs(value - whole) >= 0.5 else whole


def number_token(lexeme):
    digits = lexeme.rstrip(" %percnt\t\n")
    value = float(digits)
    if digits != lexeme.strip():
        return Token(digits, True, hundredths(value / 100))
    return Token(digits, "." in digits and -2 <= value <= 2, hundredths(value))  # else a count, a year, a length


def sentences(text):
    start = 0
    for mark in SENTENCE.finditer(text):
        yield text[start : mark.end()]
        start = mark.end()
    yield text[start:]


def plain_words(sentence):
    """Subjects and sides of a sentence that can state nothing; None if it may state something."""
    if DIGIT.search(sentence):
        return None
    found = WORD.findall(sentence)
    if any(w in LOUD for w in found):
        return None
    return [Token(w) for w in found if w in SUBJECT or w in SIDE]


def clauses(text):
    """The text rewritten and cut into clauses."""
    out = []
    for sentence in sentences(text.lower()):
        plain = plain_words(sentence)
        if plain is None:
            out.extend(rewritten(sentence))
        elif plain:
            out.append(plain)
    return out


def rewritten(text):
    for pattern, to in REWRITES:
        text = pattern.sub(to, text)
    parts, sentence, clause = [], [], []

    def end_clause():
        nonlocal clause
        if clause:
            sentence.append(clause)
            clause = []

    def end_sentence():
        nonlocal sentence
        end_clause()
        if sentence:
            parts.append(sentence)
            sentence = []

    for lexeme in LEXEME.findall(text):
        if lexeme in ".;!?\n":
            end_sentence()
        elif lexeme == ":":
            if len(clause) > 3:
                end_sentence()
            else:  # only a heading stands before it
                clause.append(Token("is"))
        elif lexeme in "(),":
            clause.append(Token(","))
        elif lexeme in HARD:
            end_clause()
            clause.append(Token(lexeme))
        elif lexeme[0].isalpha() or lexeme in "<>":
            clause.append(Token(lexeme))
        else:
            clause.append(number_token(lexeme))
    end_sentence()
    return [c for s in parts for c in split_and(contrast(s))]


def until_that(clause):
    for i, t in enumerate(clause):
        if t.text in ("that", "which"):
            return clause[:i]
    return clause


def subject_in(clause):
    return next((t.subject for t in clause if t.subject), None)


def contrast(sentence):
    """Drops the denied half of "not X but Y"."""
    out = []
    for clause in sentence:
        if out and clause[0].text == "but" and not any(t.verb for t in until_that(clause)):
            before = out[-1]
            at = next((i for i in range(len(before) - 1, -1, -1) if before[i].text in ("not", "xnot")), None)
            if at is not None and subject_in(clause) is None:
                out[-1] = before[:at] + [t for t in before[at:] if t.subject and not t.cue] + clause[1:]
                continue
        out.append(clause)
    return out


def split_and(sentence):
    """Cuts a clause where a new subject with its own predicate begins."""
    out = []
    for clause in sentence:
        start = 0
        for i in range(1, len(clause)):
            word = clause[i].text
            if word not in ("and", ",", "so", "with") or word == "with" and i < 2:
                continue
            if starts_statement(clause[i + 1 :]) and any(t.verb or t.cue or t.negator for t in clause[start:i]):
                out.append(clause[start:i])
                start = i + 1
        out.append(clause[start:])
    return out


def starts_statement(clause):
    seen = False
    for i, t in enumerate(clause):
        if t.text in (",", "or") or t.text == "and" and i > 0:
            return False
        if seen and (t.verb or t.cue in ADJECTIVE and not t.noun):
            return True
        if t.subject and not t.cue or t.text in ("it", "there", "both") and i < 2:
            seen = True
    return False


GENERALITIES = [
    f"{some} {limit}"
    for some in ("a ctr", "a ratio", "a cardiothoracic ratio", "a value", "values", "ratios", "anything", "an index", "a shift")
    for limit in ("below", "under", "above", "over", "up to", "of less than", "of more than", "beyond")
]


class Clause:
    """One clause, ready to be read for each measurement."""

    def __init__(self, tokens):
        self.t = tokens
        self.speaks = any(t.number or t.cue for t in tokens)
        self.text, self.muted = "", False
        if self.speaks:
            self.text = " " + " ".join(t.text for t in tokens) + " "
            self.muted = any(t.text in MUTING for t in tokens) and self.mute()

    def has(self, *phrases):
        return any(" " + p + " " in self.text for p in phrases)

    def mute(self):
        """Nothing in the clause is asserted."""
        has = self.has
        if has("if", "would", "unless", "whether", "suppose", "supposing", "assuming", "hypothetically", "should", "were it"):
            return True
        if self.t[0].text in ("were", "had"):
            return True
        if has("suspicion", "suspected") and has("not confirmed", "not borne", "unfounded", "dropped", "abandoned", "given up"):
            return True
        if has("can not be judged", "can not be assessed", "can not be determined", "can not be confirmed", "can not be measured",
               "can not be evaluated", "can not be compared", "can not be quantified", "not assessable", "unavailable",
               "not available", "withheld"):
            return True
        if has("first", "initially", "initial", "suspicion", "thought", "considered") and has(
                "thought", "suspected", "considered", "impression", "seemed", "looked", "withdrawn", "dismissed"):
            return True
        if has(*GENERALITIES):
            return True
        option = has("option", "options", "choice", "alternative", "answer")
        rejected = has("ruled", "rejected", "excluded", "wrong", "incorrect", "eliminated", "discarded", "unlikely", "not fit",
                       "false", "does not", "dropped", "refuted")
        return option and rejected or has("reject", "rejected", "discarded", "eliminated", "eliminate", "discard")


def prepare(text):
    return [Clause(c) for c in clauses(text)]


def opposite(side):
    return "right" if side == "left" else "left"


class Reading:
    """One clause read for one measurement; carry and side come from the clauses before it."""

    def __init__(self, clause, measurement, carry, side):
        self.c, self.t, self.has, self.m, self.carry, self.side = clause, clause.t, clause.has, measurement, carry, side

    def statements(self):
        read = {HEART: self.heart, LUNGS: self.lungs, MIDLINE: self.midline}[self.m]
        for i, t in enumerate(self.t):
            if t.cue and not self.past(i) and not self.general(i) and not self.instead(i):
                said = read(i, t.cue)
                if said:
                    yield said

    def past(self, i):
        """The cue at i tells of an earlier film."""
        t = self.t
        for j in range(i - 1, -1, -1):
            w = t[j].text
            if w in ("now", "today", "currently", "remains", "remain", "still", "again", "xnot"):
                return False
            if w in EARLIER:
                return not any(t[k].text in ("compared", "than", "unchanged", "unlike", "to") for k in range(max(0, j - 4), j))
        for j in range(i + 1, len(t)):
            if t[j].cue and t[j].cue != "direction":
                return False
            if t[j].text in ("compared", "than", "unchanged", "now", "as"):
                return False
            if t[j].text in EARLIER:
                return True
        return False

    def general(self, i):
        """The cue at i belongs to a limit, not to the picture."""
        t = self.t
        if 0 < i < len(t) - 1 and t[i - 1].cue == "normal" and t[i + 1].number and t[i].text in LIMITS:
            return True
        for j in range(i + 1, min(len(t), i + 4)):
            w = t[j].text
            if w in ("limit", "limits", "range", "threshold", "value", "values"):
                return j == i + 1
            if t[j].number:
                return t[i].cue == "normal" and (t[j - 1].text in LIMITS or t[j - 1].text == "to")
            if w == ",":
                return False
        return False

    def instead(self, i):
        t = self.t
        return any(t[j].text == "than" and t[j - 1].text == "rather" or t[j].text == "of" and t[j - 1].text == "instead"
                   for j in range(max(1, i - 4), i))

    def about(self, i, subject):
        noun = self.noun(i)
        if noun:
            return noun == subject
        found = False
        for j in range(i - 1, -1, -1):
            t = self.t[j]
            if found and (t.verb or t.cue and not t.subject or t.text in ("of", "than", "by", "in")):
                return False
            if t.subject:
                if t.subject == subject:
                    return True
                found = True
        return not found and self.carry == subject

    def noun(self, i):
        """The subject that the cue at i modifies."""
        t = self.t
        for j in range(i + 1, min(len(t), i + 7)):
            if t[j].subject:
                return t[j].subject
            w = t[j].text
            joins = w in ("of", "in", "the", "both", "a", "between")
            if joins and (t[i].noun or t[i + 1].text == "size"):
                continue
            if (joins or t[j].cue == "direction" or t[j].verb or t[j].number
                    or w in (",", "and", "or", "than", "to", "with", "on", "at", "by", "for", "but")):
                return None
        return None

    def heart(self, i, cue):
        large = cue in ("large", "cardiac")
        if not large and cue not in ("normal", "small") or cue != "cardiac" and not self.about(i, HEART):
            return None
        return ("enlarged" if large != self.negated(i) else "normal"), False

    def lungs(self, i, cue):
        word, index = self.t[i].text, self.has("index")
        if cue != "loss" and not self.about(i, LUNGS) and not (word == "asymmetry" and index):
            return None
        no = self.negated(i)
        if cue in ("equal", "normal"):
            if cue == "normal" and (no or not self.has("size", "volume", "volumes")):
                return None
            return "symmetric", no
        if cue == "unequal":
            if no:
                return "symmetric", False
            return None if index and word == "asymmetry" else ("symmetric", True)
        if cue not in ("loss", "small", "large"):
            return None
        both = self.has("both", "bilateral", "bilaterally", "either", "neither", "left or right", "right or left",
                        "left or the right", "right or the left", "left or right lung")
        side = self.lung_side(i)
        if both or not side:
            return ("symmetric", False) if no else None
        if cue == "large":
            side = opposite(side)
        return side + "_smaller", no

    def lung_side(self, i):
        t = self.t
        if not t[i].verb:
            for j in range(i + 1, min(len(t), i + 8)):
                if t[j].text in SIDE:
                    return SIDE[t[j].text]
                if t[j].text in ("than", ",", "with", "and") or t[j].cue:
                    break
        for j in range(i - 1, -1, -1):
            if t[j].text not in SIDE:
                continue
            near = range(max(0, j - 3), j)
            denied = any(t[k].text == "not" and k > 0 and t[k - 1].text == "," for k in near)
            compared = any(t[k].text in ("than", "unlike") or t[k].text == "with" and k > 0 and t[k - 1].text == "compared"
                           for k in near)
            if not denied and not compared:
                return SIDE[t[j].text]
        for j in range(i + 1, min(len(t), i + 4)):
            if t[j].text in SIDE and self.has("than"):
                return opposite(SIDE[t[j].text])
        return None

    def midline(self, i, cue):
        if cue not in ("moved", "central", "direction", "normal"):
            return None
        shift = self.t[i].subject == MIDLINE
        if not shift and not self.about(i, MIDLINE) and not (cue == "moved" and self.object(i)):
            return None
        no = self.negated(i)
        if cue == "normal":
            return ("midline", no) if self.has("position", "located", "lies") or self.direction() else None
        if cue == "central":
            return "midline", no
        if self.has("xnormal") and not no:
            return None
        side = self.direction()
        if side == "both" or not side and no:
            return "midline", not no
        if not side:
            if shift and not self.has("a", "there", "marked", "clear", "with"):
                return None
            return "midline", True
        return "shifted_" + side, no

    def object(self, i):
        for j in range(i + 1, min(len(self.t), i + 6)):
            if self.t[j].subject:
                return self.t[j].subject == MIDLINE
        return False

    def direction(self):
        """The side that the clause names as a direction: left, right, both or none."""
        t, side, named = self.t, None, self.side
        for i, token in enumerate(t):
            w, said = token.text, None
            if w in ("left", "right"):
                named = w
                if (i + 1 < len(t) and t[i + 1].cue == "moved" or i > 0 and t[i - 1].cue == "moved"
                        or i > 0 and t[i - 1].text == "or" and side):
                    said = w
            elif w in SIDE:
                said = SIDE[w]
            elif w == "xdirsame":
                said = named
            elif w == "xdirother" and named:
                said = opposite(named)
            if not said:
                continue
            if side and side != said:
                return "both"
            side = said
        return side

    def negated(self, i):
        t, n = self.t, 0
        for j in range(i - 1, -1, -1):
            if not t[j].negator:
                continue
            if self.crossed(j, i):
                break
            n = 1
            for k in range(j - 1, max(0, j - 2) - 1, -1):
                if t[k].negator and t[k].text not in ("nor", "no", "neither") and t[j].text != "nor":
                    n += 1
                    break
            break
        return (n + self.denials(i)) % 2 == 1

    def crossed(self, j, i):
        begun = False
        for k in range(j + 1, i):
            if self.t[k].text in (",", "and"):
                begun = True
            elif begun and self.t[k].verb:
                return True
        return False

    def denials(self, i):
        t = self.t
        for j in range(i + 1, len(t)):
            w = t[j].text
            if w == "," or t[j].cue and w != "xloss":
                return 0
            if w in ("denied", "excluded", "ruled", "absent", "unlikely", "dismissed", "missed", "overlooked", "refuted"):
                return 1 + sum(t[k].negator for k in range(max(i + 1, j - 3), j))
            if w == "not" and j + 1 < len(t) and t[j + 1].text in ("present", "seen", "evident", "confirmed", "found", "visible"):
                return 1
        return 0

    def misquotes(self, value):
        """The clause quotes a number for the measurement that lies beyond the tolerance."""
        for i, t in enumerate(self.t):
            if not t.number or self.owner(i) != self.m or self.limit(i) or self.past(i):
                continue
            got, want = t.cents, hundredths(value)
            if self.m != HEART and any(k.text in SIDE or k.text in ("xdirsame", "xdirother") for k in self.t):
                got, want = abs(got), abs(want)
            if abs(got - want) > TOLERANCE[self.m]:
                return True
        return False

    def owner(self, i):
        for j in range(i - 1, -1, -1):
            if self.t[j].cue == "cardiac":
                return HEART
            if self.t[j].subject:
                return self.t[j].subject
        return subject_in(self.t[i + 1 :]) or self.carry

    def limit(self, i):
        t = self.t
        for j in range(i - 1, max(0, i - 3) - 1, -1):
            if t[j].text in (",", "ctr", "ratio", "index") or t[j].number:
                break
            if t[j].text in LIMITS:
                return True
        for j in range(i + 1, min(len(t) - 1, i + 2) + 1):
            if t[j].text in ("limit", "threshold", "cutoff", "cm", "mm", "criterion"):
                return True
            if t[j].text == ",":
                break
        return False


def agrees(measurement, category, value, text):
    """1 if a clause of the prepared text agrees with the category and none contradicts it, else 0."""
    agreed, carry, side = 0, None, None
    for clause in text:
        if clause.speaks and not clause.muted:
            reading = Reading(clause, measurement, carry, side)
            for said, denied in reading.statements():
                if denied == (said == category):
                    return 0
                if not denied:
                    agreed = 1
            if reading.misquotes(value):
                return 0
        carry = subject_in(clause.t) or carry
        side = next((SIDE[t.text] for t in reversed(clause.t) if t.text in SIDE), side)
    return agreed
