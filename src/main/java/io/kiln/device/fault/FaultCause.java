// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** What a fault is about, in words: by the fault status of Armv7-M and Armv8-M (CFSR), or by the cause of RISC-V (mcause). */
final class FaultCause {
    private static final long MEMORY_ADDRESS_VALID = 1L << 7;
    private static final long BUS_ADDRESS_VALID = 1L << 15;
    private static final long IMPRECISE = 1L << 10;

    private record Bit(int number, String text) {}

    private static final List<Bit> BITS = List.of(
            new Bit(0, "an instruction was fetched where none may be"),
            new Bit(1, "data were accessed where that is not allowed"),
            new Bit(3, "the return from an exception found no stack"),
            new Bit(8, "an instruction was fetched where no memory answers"),
            new Bit(9, "data were accessed where no memory answers"),
            new Bit(10, "data were written where no memory answers, some instructions before"),
            new Bit(11, "the return from an exception found no stack"),
            new Bit(16, "an instruction that the core does not know"),
            new Bit(17, "a jump to an address that is no Thumb code"),
            new Bit(18, "a return from an exception that was none"),
            new Bit(19, "a floating point instruction while the unit is off"),
            new Bit(24, "an access that is not aligned"),
            new Bit(25, "a division by zero"));

    private static final List<String> RISCV_CAUSES = List.of(
            "a jump to an address that is not aligned",
            "an instruction was fetched where none may be",
            "an instruction that the core does not know",
            "a breakpoint",
            "a read at an address that is not aligned",
            "a read where no memory answers or none is allowed",
            "a write at an address that is not aligned",
            "a write where no memory answers or none is allowed");

    private FaultCause() {}

    /** The cause, with the address that was reached for if the core knows it. */
    static String text(FaultReport report) {
        if (report.status().isPresent()) {
            return arm(report, report.status().getAsLong());
        }
        if (report.address().isPresent()) {
            return riscv(report, report.address());
        }
        return "exception " + report.exception();
    }

    private static String arm(FaultReport report, long status) {
        String what = BITS.stream()
                .filter(bit -> (status >> bit.number() & 1) != 0)
                .map(Bit::text)
                .findFirst()
                .orElse("exception " + report.exception());
        boolean hasAddress = (status & (MEMORY_ADDRESS_VALID | BUS_ADDRESS_VALID)) != 0;
        return hasAddress && report.address().isPresent() ? what + at(report.address()) : what;
    }

    private static String riscv(FaultReport report, OptionalLong address) {
        int cause = (int) Math.min(report.exception(), RISCV_CAUSES.size());
        return cause < RISCV_CAUSES.size() ? RISCV_CAUSES.get(cause) + at(address) : "exception " + report.exception();
    }

    private static String at(OptionalLong address) {
        return String.format(Locale.ROOT, ": address 0x%08x", address.getAsLong());
    }

    /** Whether the instruction named is one behind the one that did it. */
    static boolean isImprecise(FaultReport report) {
        return (report.status().orElse(0) & IMPRECISE) != 0;
    }
}
