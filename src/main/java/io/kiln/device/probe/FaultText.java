// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Parses faults: {@code <kind>:<number>[:<number>]}, separated by commas. */
final class FaultText {
    private static final String KINDS =
            "wrong-tap-id:<id>, wrong-chip-id:<id>, write-error:<address>, protected-sector:<0 to 11>,"
                    + " read-protected, flipped-bit:<address>:<0 to 7>, dropped:<bytes>, silent:<bytes>, power-lost:<bytes>,"
                    + " slow:<milliseconds>";

    private final Problems problems = new Problems(Failure.DEVICE);
    private final String where;

    FaultText(String where) {
        this.where = where;
    }

    Faults parse(String text) {
        List<Fault> faults = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            if (!each.isBlank()) {
                fault(each.strip()).ifPresentOrElse(faults::add, () -> refuse(each.strip()));
            }
        }
        problems.throwIfAny();
        return new Faults(faults);
    }

    private void refuse(String fault) {
        problems.add("'" + fault + "' is not a fault of the virtual probe", where, "one of " + KINDS, "");
    }

    private static Optional<Fault> fault(String text) {
        String[] parts = text.split(":", -1);
        List<Long> numbers = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            Optional<Long> number = number(parts[i]);
            if (number.isEmpty()) {
                return Optional.empty();
            }
            numbers.add(number.get());
        }
        return switch (numbers.size()) {
            case 0 -> parts[0].equals("read-protected") ? Optional.of(new Fault.ReadProtected()) : Optional.empty();
            case 1 -> single(parts[0], numbers.get(0));
            case 2 ->
                parts[0].equals("flipped-bit") && inFlash(numbers.get(0)) && numbers.get(1) < 8
                        ? Optional.of(new Fault.FlippedBit(
                                numbers.get(0).intValue(), numbers.get(1).intValue()))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    private static Optional<Fault> single(String kind, long number) {
        return switch (kind) {
            case "wrong-tap-id" -> Optional.of(new Fault.WrongTapId((int) number));
            case "wrong-chip-id" -> Optional.of(new Fault.WrongChipId((int) number));
            case "write-error" -> inFlash(number) ? Optional.of(new Fault.WriteError((int) number)) : Optional.empty();
            case "protected-sector" ->
                number < FlashSectors.COUNT ? Optional.of(new Fault.ProtectedSector((int) number)) : Optional.empty();
            case "dropped" -> Optional.of(new Fault.ConnectionDropped(number));
            case "silent" -> Optional.of(new Fault.Silence(number));
            case "power-lost" -> Optional.of(new Fault.PowerLost(number));
            case "slow" -> Optional.of(new Fault.SlowProbe(Duration.ofMillis(number)));
            default -> Optional.empty();
        };
    }

    private static boolean inFlash(long address) {
        return address >= FlashArray.BASE && address < FlashArray.BASE + FlashContent.SIZE;
    }

    /** A number from 0 to 2^32 - 1, decimal or hexadecimal. */
    private static Optional<Long> number(String text) {
        try {
            long number = Long.decode(text);
            return number >= 0 && number >>> 32 == 0 ? Optional.of(number) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
