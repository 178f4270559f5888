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
 * What a board's fault handler prints of an overflowed stack: a line, and then either that of the fault, or, where the core could not say which
 * function it was in, lines with words of the stack that may be return addresses.
 *
 * @param used bytes from the top of the stack to where it was; 0 for the stack of a thread of the program's own, empty if the handler does
 *     not say it
 * @param fault where it was
 * @param words possible return addresses, from the top of the stack down
 */
record OverflowReport(OptionalLong used, Optional<FaultReport> fault, List<Long> words) {
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
                .map(place -> names.name(place.address()) + (place.isCaller() ? ", or a function that it calls" : ""))
                .orElse("");
    }
}
