// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.firmware.dwarf.LineTables;
import io.kiln.firmware.dwarf.LineTables.SourceLine;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Looks for the fault handler's line in an image's output, and passes all output on. Thread-safe. */
public final class FaultWatch implements Consumer<String> {
    private static final int LONGEST_LINE = 400;
    private static final long MEMORY_ADDRESS_VALID = 1L << 7;
    private static final long BUS_ADDRESS_VALID = 1L << 15;
    private static final long IMPRECISE = 1L << 10;
    private static final long RISCV_INTERRUPT = 1L << 31;

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

    private final Consumer<String> next;
    private final StringBuilder line = new StringBuilder();
    private Optional<FaultReport> fault = Optional.empty();
    private Optional<OverflowReport> overflow = Optional.empty();

    /**
     * @param next gets the same text
     */
    public FaultWatch(Consumer<String> next) {
        this.next = next;
    }

    @Override
    public synchronized void accept(String text) {
        next.accept(text);
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character != '\n') {
                line.append(character);
                line.delete(0, Math.max(0, line.length() - LONGEST_LINE));
            } else {
                String whole = line.toString();
                line.setLength(0);
                note(whole);
            }
        }
    }

    private void note(String whole) {
        overflow.flatMap(report -> report.with(whole)).ifPresent(more -> overflow = Optional.of(more));
        OverflowReport.in(whole).ifPresent(report -> {
            overflow = Optional.of(report);
            fault = Optional.empty();
        });
        FaultReport.in(whole).ifPresent(report -> {
            fault = Optional.of(report);
            overflow = overflow.map(stack -> stack.with(report));
        });
        notifyAll();
    }

    /**
     * The last reported fault, if any.
     *
     * @param image ELF file that ran, for the names of functions and lines; without one, addresses stay bare
     */
    public synchronized Optional<Problem> problem(Path image) {
        return overflow.map(report -> report.problem(image))
                .or(() -> fault.map(report -> described(report, ImageSymbols.of(image))));
    }

    /** Waits for the output of an image that has ended with a fault, and returns its {@link #problem}. */
    public synchronized Optional<Problem> awaited(Path image, Duration time) {
        long deadline = System.nanoTime() + time.toNanos();
        try {
            while (!isWhole() && deadline - System.nanoTime() > 0) {
                wait(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return problem(image);
    }

    /** Whether a report is whole: the last line has come that names a place. */
    private boolean isWhole() {
        return fault.isPresent()
                || overflow.filter(report -> !report.words().isEmpty()).isPresent();
    }

    /** Returns the {@link #problem}, but each fault only once. */
    public synchronized Optional<Problem> take(Path image) {
        Optional<Problem> problem = problem(image);
        fault = Optional.empty();
        overflow = Optional.empty();
        return problem;
    }

    /**
     * The same exception, with the fault before its problems.
     *
     * @param image as in {@link #problem}
     */
    public KilnException explained(KilnException e, Path image) {
        Optional<Problem> reported = problem(image);
        if (reported.isEmpty()) {
            return e;
        }
        List<Problem> problems = new ArrayList<>(List.of(reported.get()));
        problems.addAll(e.problems());
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    private static Problem described(FaultReport report, ImageSymbols names) {
        return Failure.RUN.problem(
                "the image stopped with a fault: " + cause(report),
                report.place(names),
                "",
                isImprecise(report)
                        ? "The core reports an instruction after the write. On Cortex-M3 and -M4, flags: {defines:"
                                + " {KILN_PRECISE_WRITES: 1}} in board.yaml has each write wait for its answer"
                        : "");
    }

    private record Bit(int number, String text) {}

    /** The cause in words, from the fault status register of Armv7-M and Armv8-M (CFSR) or the cause of RISC-V (mcause), with the accessed address if the core knows it. */
    private static String cause(FaultReport report) {
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
    private static boolean isImprecise(FaultReport report) {
        return (report.status().orElse(0) & IMPRECISE) != 0;
    }

    /**
     * What a board's fault handler prints of an overflowed stack: a line, and then either that of the fault, or, where the core could not say which
     * function it was in, lines with words of the stack that may be return addresses.
     *
     * @param used bytes from the top of the stack to where it was; 0 for the stack of a thread of the program's own, empty if the handler does
     *     not say it
     * @param fault where it was
     * @param words possible return addresses, from the top of the stack down
     */
    private record OverflowReport(OptionalLong used, Optional<FaultReport> fault, List<Long> words) {
        private static final int MOST_WORDS = 1024;

        private static final String NUMBER = "0x([0-9a-f]{8})";
        private static final Pattern LINE = Pattern.compile("kiln: stack overflow(?:, " + NUMBER + " bytes used)?");
        private static final Pattern WORD = Pattern.compile("kiln: on the stack " + NUMBER);

        OverflowReport {
            words = List.copyOf(words);
        }

        /** The report in a line, if it contains one. */
        static Optional<OverflowReport> in(String line) {
            Matcher matcher = LINE.matcher(line);
            return matcher.find()
                    ? Optional.of(new OverflowReport(
                            matcher.group(1) == null ? OptionalLong.empty() : OptionalLong.of(number(matcher)),
                            Optional.empty(),
                            List.of()))
                    : Optional.empty();
        }

        /** This report with the fault in a line that follows it. */
        OverflowReport with(FaultReport where) {
            return new OverflowReport(used, Optional.of(where), words);
        }

        /** This report with the word in a line that follows it, if the line contains one. */
        Optional<OverflowReport> with(String line) {
            Matcher matcher = WORD.matcher(line);
            if (words.size() >= MOST_WORDS || !matcher.find()) {
                return Optional.empty();
            }
            List<Long> more = new ArrayList<>(words);
            more.add(number(matcher));
            return Optional.of(new OverflowReport(used, fault, more));
        }

        private static long number(Matcher matcher) {
            return Long.parseLong(matcher.group(1), 16);
        }

        /**
         * The overflow as a problem for the user.
         *
         * @param image ELF file that ran
         */
        Problem problem(Path image) {
            ImageSymbols names = ImageSymbols.of(image);
            String where = where(image, names);
            return used.equals(OptionalLong.of(0))
                    ? StackUse.overflowOfThread(where)
                    : StackUse.overflow(used, StackUse.available(image), where);
        }

        private String where(Path image, ImageSymbols names) {
            if (fault.isPresent()) {
                return fault.get().place(names);
            }
            if (words.isEmpty() || !ElfFile.isElf(image)) {
                return "";
            }
            long excess = used.orElse(0) - StackUse.available(image).orElse(0);
            return ThumbCalls.innermost(ElfFile.read(image), words, excess)
                    .map(place ->
                            names.name(place.address()) + (place.isCaller() ? ", or a function that it calls" : ""))
                    .orElse("");
        }
    }

    /**
     * Finds who called whom on the stack of a Cortex-M, from the words on it. A return address lies behind a call, whose target the
     * instruction says (Armv7-M Architecture Reference Manual, A7.7.18 BL, A7.7.19 BLX): the next return address further down must lie
     * in that function. So what is left on the stack of earlier calls is passed over.
     */
    private static final class ThumbCalls {
        private static final int BL_BYTES = 4;
        private static final int BLX_BYTES = 2;
        private static final int SP = 13;

        /** Bytes of a function in which its frame is made, and in which calls are looked for. */
        private static final int PROLOGUE = 40;

        private static final int MOST_CODE = 1 << 16;

        private final ElfFile elf;
        private final List<Symbol> functions;

        private ThumbCalls(ElfFile elf) {
            this.elf = elf;
            this.functions = elf.symbols().stream().filter(Symbol::isFunction).toList();
        }

        /**
         * A function that overflowed the stack.
         *
         * @param address its first instruction, or a place in it
         * @param isCaller whether it may be a function that this one called instead, which left no word on the stack
         */
        record Place(long address, boolean isCaller) {}

        /**
         * The innermost function that the words tell. A function that calls no others leaves no return address: it is found as the one function
         * that the innermost one calls, and whose frame is as large as it must be.
         *
         * @param words of a stack, from its top down
         * @param excess bytes by which the stack overflowed; not positive if that is not known
         * @return empty if no word is a return address
         */
        static Optional<Place> innermost(ElfFile elf, List<Long> words, long excess) {
            ThumbCalls calls = new ThumbCalls(elf);
            return calls.last(words).map(address -> calls.overflowing(address, excess));
        }

        private Optional<Long> last(List<Long> words) {
            Optional<Long> innermost = Optional.empty();
            Optional<Symbol> expected = Optional.empty();
            for (long word : words) {
                long back = word & ~1L;
                Optional<Symbol> in = function(back - 1);
                if (in.isEmpty() || !isCall(back) || (expected.isPresent() && !expected.equals(in))) {
                    continue;
                }
                OptionalLong target = target(back);
                expected = target.isPresent() ? function(target.getAsLong()) : Optional.empty();
                innermost =
                        Optional.of(expected.map(symbol -> symbol.value() & ~1L).orElse(back - 1));
            }
            return innermost;
        }

        private Place overflowing(long address, long excess) {
            Symbol innermost = function(address).orElseThrow();
            if (excess <= 0) {
                return new Place(address, true);
            }
            if (frame(innermost) >= excess) {
                return new Place(address, false);
            }
            List<Symbol> called = called(innermost).stream()
                    .filter(function -> frame(function) >= excess)
                    .toList();
            return called.size() == 1 ? new Place(called.get(0).value() & ~1L, false) : new Place(address, true);
        }

        /** The functions that a function calls by their names. */
        private Set<Symbol> called(Symbol function) {
            long start = function.value() & ~1L;
            Set<Symbol> called = new LinkedHashSet<>();
            for (long at = start; at < start + Math.min(function.size(), MOST_CODE); at += isWide(at) ? 4 : 2) {
                target(at + BL_BYTES).stream()
                        .mapToObj(this::function)
                        .flatMap(Optional::stream)
                        .forEach(called::add);
            }
            return called;
        }

        /** Bytes by which a function's first instructions lower the stack pointer: SUB (SP minus immediate), A7.7.176; more if that is computed. */
        private long frame(Symbol function) {
            long start = function.value() & ~1L;
            long bytes = 0;
            for (long at = start; at < start + Math.min(function.size(), PROLOGUE); at += isWide(at) ? 4 : 2) {
                int high = halfword(at);
                int low = halfword(at + 2);
                int immediate = (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | (low & 0xff);
                boolean isOnSp = (low >> 8 & 15) == SP;
                if ((high & 0xff80) == 0xb080) {
                    bytes += (high & 0x7fL) << 2;
                } else if ((high & 0xfbef) == 0xf1ad && isOnSp) {
                    bytes += expanded(immediate);
                } else if ((high & 0xfbff) == 0xf2ad && isOnSp) {
                    bytes += immediate;
                } else if (((high & 0xffef) == 0xebad && isOnSp) || (high & 0xff87) == 0x4485) {
                    return Long.MAX_VALUE;
                }
            }
            return bytes;
        }

        /** The value of a modified immediate constant (A5.3.2). */
        private static long expanded(int immediate) {
            int low = immediate & 0xff;
            if (immediate >> 10 != 0) {
                return Integer.toUnsignedLong(Integer.rotateRight(0x80 | (low & 0x7f), immediate >> 7));
            }
            return switch (immediate >> 8) {
                case 0 -> low;
                case 1 -> low << 16 | low;
                case 2 -> Integer.toUnsignedLong(low << 24 | low << 8);
                default -> Integer.toUnsignedLong(low * 0x01010101);
            };
        }

        private boolean isWide(long address) {
            return halfword(address) >= 0xe800;
        }

        private boolean isCall(long back) {
            return target(back).isPresent() || (halfword(back - BLX_BYTES) & 0xff87) == 0x4780;
        }

        /** The target of the BL before an address. */
        private OptionalLong target(long back) {
            int high = halfword(back - BL_BYTES);
            int low = halfword(back - BL_BYTES + 2);
            if ((high & 0xf800) != 0xf000 || (low & 0xd000) != 0xd000) {
                return OptionalLong.empty();
            }
            int sign = high >> 10 & 1;
            int i1 = 1 ^ (low >> 13 & 1) ^ sign;
            int i2 = 1 ^ (low >> 11 & 1) ^ sign;
            int offset = -sign << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;
            return OptionalLong.of(back + offset);
        }

        /** Two bytes of code; 0 where the file has none. */
        private int halfword(long address) {
            Optional<ByteBuffer> bytes = elf.at(address, 2);
            return bytes.isPresent()
                    ? bytes.get().order(ByteOrder.LITTLE_ENDIAN).getShort(0) & 0xffff
                    : 0;
        }

        private Optional<Symbol> function(long address) {
            return functions.stream()
                    .filter(symbol ->
                            address >= (symbol.value() & ~1L) && address < (symbol.value() & ~1L) + symbol.size())
                    .findFirst();
        }
    }

    /**
     * The line that a board's fault handler prints.
     *
     * @param exception number of the exception on Cortex-M, cause on RISC-V
     * @param pc address of the faulting instruction, or of the one that the core had reached
     * @param caller the link register: the return address, unless the function has called others; 0 like the address if the core could not say
     *     either
     * @param status the configurable fault status register of Armv7-M and later; empty on other cores
     * @param address the accessed address, where the core has a register for it; on Arm only valid if the status says so
     */
    private record FaultReport(long exception, long pc, long caller, OptionalLong status, OptionalLong address) {
        private static final String NUMBER = "0x([0-9a-f]{8})";
        private static final Pattern LINE = Pattern.compile("kiln: exception " + NUMBER + " at " + NUMBER
                + ", called from " + NUMBER + "(?:, status " + NUMBER + ")?(?:, address " + NUMBER + ")?");

        /** The report in a line, if it contains one. */
        static Optional<FaultReport> in(String line) {
            Matcher matcher = LINE.matcher(line);
            return matcher.find()
                    ? Optional.of(new FaultReport(
                            number(matcher, 1).getAsLong(),
                            number(matcher, 2).getAsLong(),
                            number(matcher, 3).getAsLong(),
                            number(matcher, 4),
                            number(matcher, 5)))
                    : Optional.empty();
        }

        /** Where it was: the function, and its caller if that is known; empty if neither is. */
        String place(ImageSymbols names) {
            if (pc == 0 && caller == 0) {
                return "";
            }
            // The call precedes its return address, whose lowest bit marks Thumb code.
            long call = (caller & ~1L) - 1;
            return names.name(pc) + (names.isCode(call) ? ", called from " + names.name(call) : "");
        }

        private static OptionalLong number(Matcher matcher, int group) {
            String digits = matcher.group(group);
            return digits == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(digits, 16));
        }
    }

    /** Maps addresses of an image to names. */
    private record ImageSymbols(List<Symbol> functions, Optional<LineTables> lines) {
        /** The names in an ELF file; none if it is not an ELF file. */
        static ImageSymbols of(Path file) {
            try {
                if (ElfFile.isElf(file)) {
                    ElfFile elf = ElfFile.read(file);
                    return new ImageSymbols(
                            elf.symbols().stream().filter(Symbol::isFunction).toList(),
                            Optional.of(LineTables.of(elf)));
                }
            } catch (KilnException e) {
                // The image's output is useful without names.
                return new ImageSymbols(List.of(), Optional.empty());
            }
            return new ImageSymbols(List.of(), Optional.empty());
        }

        /** {@code function (file:line)}, or the known part of it; the bare address if nothing is known. */
        String name(long address) {
            Optional<String> function = function(address);
            Optional<String> line = lines.flatMap(tables -> tables.at(address)).map(SourceLine::text);
            if (function.isEmpty() && line.isEmpty()) {
                return hex(address);
            }
            String place = line.map(text -> " (" + text + ")").orElse(" (" + hex(address) + ")");
            return function.orElse(hex(address)) + place;
        }

        /** Whether the address lies in the image's code. */
        boolean isCode(long address) {
            return function(address).isPresent();
        }

        private Optional<String> function(long address) {
            return functions.stream()
                    .filter(symbol ->
                            address >= (symbol.value() & ~1L) && address < (symbol.value() & ~1L) + symbol.size())
                    .map(Symbol::name)
                    .findFirst();
        }

        private static String hex(long address) {
            return String.format(Locale.ROOT, "0x%08x", address);
        }
    }
}
