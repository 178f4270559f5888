// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a board's fault handler prints of an overflowed stack: a line, and where the core could not say which function it was in, lines with
 * words of the stack that may be return addresses.
 *
 * @param isThread whether it is the stack of a thread of the program's own
 * @param used bytes from the top of the stack to where it was; empty if the line does not say
 * @param pc address of the instruction that overflowed it
 * @param caller the return address there, unless the function has called others
 * @param words possible return addresses, from the top of the stack down
 */
record OverflowReport(boolean isThread, OptionalLong used, OptionalLong pc, OptionalLong caller, List<Long> words) {
    private static final int MOST_WORDS = 1024;

    private static final String NUMBER = "0x([0-9a-f]{8})";
    private static final Pattern LINE = Pattern.compile("kiln: stack overflow( of a thread)?(?:, " + NUMBER
            + " bytes used)?(?: at " + NUMBER + ", called from " + NUMBER + ")?");
    private static final Pattern WORD = Pattern.compile("kiln: on the stack " + NUMBER);

    OverflowReport {
        words = List.copyOf(words);
    }

    /** The report in a line, if it contains one. */
    static Optional<OverflowReport> in(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.find()
                ? Optional.of(new OverflowReport(
                        matcher.group(1) != null,
                        number(matcher, 2),
                        number(matcher, 3),
                        number(matcher, 4),
                        List.of()))
                : Optional.empty();
    }

    /** This report with the word in a line that follows it, if the line contains one. */
    Optional<OverflowReport> with(String line) {
        Matcher matcher = WORD.matcher(line);
        if (words.size() >= MOST_WORDS || !matcher.find()) {
            return Optional.empty();
        }
        List<Long> more = new ArrayList<>(words);
        more.add(number(matcher, 1).getAsLong());
        return Optional.of(new OverflowReport(isThread, used, pc, caller, more));
    }

    private static OptionalLong number(Matcher matcher, int group) {
        String digits = matcher.group(group);
        return digits == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(digits, 16));
    }

    /**
     * For people.
     *
     * @param image ELF file that ran
     */
    Problem problem(Path image) {
        ImageSymbols names = ImageSymbols.of(image);
        if (isThread) {
            return new Problem(
                    "the stack of a thread overflowed", where(image, names), "", "Give that thread a larger stack");
        }
        OptionalLong available = StackUse.available(image);
        return StackUse.overflow(used, available, where(image, names));
    }

    private String where(Path image, ImageSymbols names) {
        if (pc.isPresent()) {
            long call = (caller.orElse(0) & ~1L) - 1;
            return names.name(pc.getAsLong()) + (names.isCode(call) ? ", called from " + names.name(call) : "");
        }
        if (words.isEmpty() || !ElfFile.isElf(image)) {
            return "";
        }
        long excess = used.orElse(0) - StackUse.available(image).orElse(0);
        return ThumbCalls.innermost(ElfFile.read(image), words, excess)
                .map(place -> names.name(place.address()) + (place.isCaller() ? ", or a function that it calls" : ""))
                .orElse("");
    }
}
