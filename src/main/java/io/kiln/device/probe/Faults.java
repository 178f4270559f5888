// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.device.probe.FlashCells.FlashSectors;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The faults of a probe from one start to the next; may be empty. */
public record Faults(List<Fault> list) {
    public Faults {
        list = List.copyOf(list);
    }

    public static Faults none() {
        return new Faults(List.of());
    }

    public static Faults of(Fault... faults) {
        return new Faults(List.of(faults));
    }

    /**
     * Reads faults from text, such as {@code protected-sector:0, slow:2}; blank text means none. The kinds: {@code wrong-tap-id:<id>},
     * {@code wrong-chip-id:<id>}, {@code write-error:<address>}, {@code protected-sector:<0 to 11>}, {@code read-protected},
     * {@code flipped-bit:<address>:<0 to 7>}, {@code dropped:<bytes>}, {@code silent:<bytes>}, {@code power-lost:<bytes>} and
     * {@code slow:<milliseconds>}. Numbers are decimal or start with 0x.
     *
     * @param where place named in problems, such as the parameter
     * @throws io.kiln.base.KilnException with all faults that cannot be parsed
     */
    public static Faults parse(String text, String where) {
        return new FaultText(where).parse(text);
    }

    <F extends Fault> Optional<F> find(Class<F> kind) {
        return all(kind).findFirst();
    }

    <F extends Fault> Stream<F> all(Class<F> kind) {
        return list.stream().filter(kind::isInstance).map(kind::cast);
    }

    /** Parses faults: {@code <kind>:<number>[:<number>]}, separated by commas. */
    private static final class FaultText {
        private static final String KINDS =
                "wrong-tap-id:<id>, wrong-chip-id:<id>, write-error:<address>, protected-sector:<0 to 11>,"
                        + " read-protected, flipped-bit:<address>:<0 to 7>, dropped:<bytes>, silent:<bytes>,"
                        + " power-lost:<bytes>, slow:<milliseconds>";

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
            problems.add("'" + fault + "' is not a fault of the virtual probe", where, "one of " + KINDS);
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
                case "write-error" ->
                    inFlash(number) ? Optional.of(new Fault.WriteError((int) number)) : Optional.empty();
                case "protected-sector" ->
                    number < FlashSectors.COUNT
                            ? Optional.of(new Fault.ProtectedSector((int) number))
                            : Optional.empty();
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
}
