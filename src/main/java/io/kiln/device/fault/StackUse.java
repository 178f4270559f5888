// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The deepest use of an image's stack, which its start-up code paints and {@code kiln_stack.h} measures.
 *
 * @param used bytes; more than available if the guard below the stack was overwritten
 * @param available bytes of the stack
 */
public record StackUse(long used, long available) {
    /** The word with which start-up code paints a stack. */
    private static final int PAINT = 0xc5a53c5a;

    private static final String OVERFLOWED = "the stack overflowed";
    private static final String THREAD_OVERFLOWED = "the stack of a thread overflowed";

    private static final String MEASURED = "kiln_stack_used";
    private static final String GUARD = "__stack_guard";
    private static final String BOTTOM = "__stack_bottom";
    private static final String TOP = "__stack_top";
    private static final int WORD = 4;

    /** Most words of a memory that are asked for at once. */
    private static final int MOST_WORDS = 1024;

    private static final long KIB = 1024;

    /** The use that an image reported of itself; empty if it did not, or has no stack of its own. */
    public static Optional<StackUse> of(Path image, OptionalLong used) {
        OptionalLong available = used.isPresent() ? available(image) : OptionalLong.empty();
        return available.isPresent()
                ? Optional.of(new StackUse(used.getAsLong(), available.getAsLong()))
                : Optional.empty();
    }

    /** The size of an image's stack in bytes; empty if its symbols do not tell. */
    public static OptionalLong available(Path image) {
        Optional<ElfFile> elf = readable(image);
        Optional<Long> bottom = elf.flatMap(file -> file.symbolValue(BOTTOM));
        Optional<Long> top = elf.flatMap(file -> file.symbolValue(TOP));
        return bottom.isPresent() && top.isPresent() && top.get() > bottom.get()
                ? OptionalLong.of(top.get() - bottom.get())
                : OptionalLong.empty();
    }

    /** The memory of a running image. */
    @FunctionalInterface
    public interface Memory {
        /** So many words from an address on, or fewer where that is not possible. */
        List<Integer> words(long address, int count);
    }

    /** The use so far of a running image's stack; empty if the image does not paint it. */
    public static Optional<StackUse> measured(ElfFile elf, Memory memory) {
        Optional<Long> bottom = elf.symbolValue(BOTTOM);
        Optional<Long> top = elf.symbolValue(TOP);
        if (elf.symbolValue(MEASURED).isEmpty() || bottom.isEmpty() || top.isEmpty() || top.get() <= bottom.get()) {
            return Optional.empty();
        }
        long lowest =
                elf.symbolValue(GUARD).filter(guard -> guard < bottom.get()).orElse(bottom.get());
        int count;
        long painted;
        do {
            count = (int) Math.min(MOST_WORDS, (top.get() - lowest) / WORD);
            painted = memory.words(lowest, count).stream()
                    .takeWhile(word -> word == PAINT)
                    .count();
            lowest += WORD * painted;
        } while (painted == count && top.get() - lowest >= WORD);
        return Optional.of(new StackUse(top.get() - lowest, top.get() - bottom.get()));
    }

    /** The use of the stack in words. */
    public String text() {
        return String.format(Locale.ROOT, "Stack: %,d of %,d bytes used", used, available);
    }

    /** The problem if the stack overflowed; empty if it sufficed. */
    public Optional<Problem> problem() {
        return used <= available
                ? Optional.empty()
                : Optional.of(overflow(OptionalLong.of(used), OptionalLong.of(available), ""));
    }

    /**
     * The message about a stack that overflowed.
     *
     * @param used bytes, as far as they are known
     * @param available bytes of the stack, if they are known
     * @param where the function, if it is known
     */
    static Problem overflow(OptionalLong used, OptionalLong available, String where) {
        String size = "";
        if (available.isPresent()) {
            size = used.orElse(0) > available.getAsLong()
                    ? String.format(
                            Locale.ROOT,
                            ": at least %,d of %,d bytes were used",
                            used.getAsLong(),
                            available.getAsLong())
                    : String.format(Locale.ROOT, ": more than its %,d bytes were needed", available.getAsLong());
        }
        long needed = Math.max(used.orElse(0), available.orElse(KIB) + 1);
        long more = Math.max(2 * KIB, Long.highestOneBit(needed - 1) << 1);
        return Failure.RUN.problem(
                OVERFLOWED + size,
                where,
                "",
                "Give it more: flags: {symbols: {__stack_size: " + more / KIB
                        + "K}} in board.yaml (default: 4K, 2K on boards with 16 KiB of RAM); or put large arrays"
                        + " outside of functions");
    }

    /** The message about an overflowed stack that is not the image's, but that of a thread of the program's own. */
    static Problem overflowOfThread(String where) {
        return Failure.RUN.problem(THREAD_OVERFLOWED, where, "", "Give that thread a larger stack");
    }

    /** Whether a message is about an overflowed stack, as those of this class are. */
    public static boolean isOverflow(Problem problem) {
        return problem.what().startsWith(OVERFLOWED) || problem.what().equals(THREAD_OVERFLOWED);
    }

    private static Optional<ElfFile> readable(Path image) {
        try {
            return ElfFile.isElf(image) ? Optional.of(ElfFile.read(image)) : Optional.empty();
        } catch (KilnException e) {
            // What the image reported is useful without its size.
            return Optional.empty();
        }
    }
}
