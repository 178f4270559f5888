// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * Describes the cause of a fault in words: from the fault status register of Armv7-M and Armv8-M (CFSR), or the cause
 * of RISC-V (mcause).
 */
final class FaultCause {
    private static final long MEMORY_ADDRESS_VALID = 1L << 7;
    private static final long BUS_ADDRESS_VALID = 1L << 15;
    private static final long IMPRECISE = 1L << 10;
    private static final long RISCV_INTERRUPT = 1L << 31;

    private record Bit(int number, String text) {}

    private static final List<Bit> BITS = List.of(
            new Bit(0, "an instruction was fetched from memory that is not executable"),
            new Bit(1, "data were accessed in memory that is not accessible"),
            new Bit(3, "the stack was not accessible on return from an exception"),
            new Bit(8, "an instruction was fetched from an address without memory"),
            new Bit(9, "data were accessed at an address without memory"),
            new Bit(10, "data were written, some instructions earlier, to an address without memory"),
            new Bit(11, "the stack was not readable on return from an exception"),
            new Bit(16, "an undefined instruction"),
            new Bit(17, "a jump to an address without the Thumb bit"),
            new Bit(18, "an invalid return from an exception"),
            new Bit(19, "a floating-point instruction while the unit is off"),
            new Bit(24, "an unaligned access"),
            new Bit(25, "a division by zero"));

    private static final List<String> RISCV_CAUSES = List.of(
            "a jump to an unaligned address",
            "an instruction was fetched from an address without executable memory",
            "an undefined instruction",
            "a breakpoint",
            "a read at an unaligned address",
            "a read at an address without readable memory",
            "a write at an unaligned address",
            "a write at an address without writable memory");

    private FaultCause() {}

    /** The cause, with the accessed address if the core knows it. */
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
        if ((report.exception() & RISCV_INTERRUPT) != 0) {
            return "interrupt " + (report.exception() & ~RISCV_INTERRUPT) + " of the hart has no handler";
        }
        int cause = (int) Math.min(report.exception(), RISCV_CAUSES.size());
        return cause < RISCV_CAUSES.size() ? RISCV_CAUSES.get(cause) + at(address) : "exception " + report.exception();
    }

    private static String at(OptionalLong address) {
        return String.format(Locale.ROOT, ": address 0x%08x", address.getAsLong());
    }

    /** Whether the reported instruction comes after the one that caused the fault. */
    static boolean isImprecise(FaultReport report) {
        return (report.status().orElse(0) & IMPRECISE) != 0;
    }
}
