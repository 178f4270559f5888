// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.mlperf;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of {@code y_labels.csv}: an input and its right answer.
 *
 * @param file name of the file, in the list's folder
 * @param classes number of classes
 * @param label the right one
 * @param width bytes of what is sent at once, a window that slides over the file; 0 for the whole file
 * @param stride bytes by which the window slides
 */
record LabelledInput(Path file, int classes, int label, int width, int stride) {
    private static final String LIST = "y_labels.csv";
    private static final String FORM = "file,classes,class or file,classes,class,bytes of a window,bytes of a stride";

    /** A name without folders, so that nothing outside of the folder is read. */
    private static final Pattern LINE = Pattern.compile(
            "([A-Za-z0-9_][A-Za-z0-9_.-]{0,199}),([0-9]{1,4}),([0-9]{1,4})(?:,([0-9]{1,7}),([0-9]{1,7}))?");

    private static final long LARGEST_LIST = 4L << 20;
    private static final long LARGEST_FILE = 16L << 20;
    private static final long LARGEST_WINDOWS = 64L << 20;

    /**
     * The inputs of a folder, or of the one in it that is named like a benchmark.
     *
     * @throws KilnException with all lines that are wrong
     */
    static List<LabelledInput> read(Path data, String benchmark) {
        Path inner = data.resolve(benchmark).resolve(LIST);
        Path list = Files.isRegularFile(inner) ? inner : data.resolve(LIST);
        List<String> lines = new String(bytes(list, LARGEST_LIST), StandardCharsets.US_ASCII)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
        Problems problems = new Problems(Failure.SAMPLES);
        List<LabelledInput> inputs = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            Matcher line = LINE.matcher(lines.get(i));
            LabelledInput input = line.matches() ? of(list, line) : null;
            if (input != null && input.label < input.classes && (input.width == 0 || input.stride > 0)) {
                inputs.add(input);
            } else if (i > 0 || line.matches()) {
                problems.add("this line lists no input: " + lines.get(i), list + ":" + (i + 1), FORM, "");
            }
        }
        if (inputs.isEmpty()) {
            problems.add("no inputs are listed", list.toString(), FORM, "");
        }
        problems.throwIfAny();
        return inputs;
    }

    private static LabelledInput of(Path list, Matcher line) {
        return new LabelledInput(
                list.resolveSibling(line.group(1)),
                Integer.parseInt(line.group(2)),
                Integer.parseInt(line.group(3)),
                line.group(4) == null ? 0 : Integer.parseInt(line.group(4)),
                line.group(5) == null ? 0 : Integer.parseInt(line.group(5)));
    }

    /** What is sent of it, one after the other. */
    List<byte[]> windows() {
        byte[] all = bytes(file, LARGEST_FILE);
        if (width == 0) {
            return List.of(all);
        }
        if ((long) (all.length - width) / stride * width > LARGEST_WINDOWS) {
            throw new KilnException(Failure.SAMPLES.problem(
                    "there are too many windows of " + width + " bytes",
                    file.toString(),
                    "at most " + LARGEST_WINDOWS + " bytes in all",
                    ""));
        }
        List<byte[]> windows = new ArrayList<>();
        for (int from = 0; from + width <= all.length; from += stride) {
            windows.add(Arrays.copyOfRange(all, from, from + width));
        }
        if (windows.isEmpty()) {
            throw new KilnException(Failure.SAMPLES.problem(
                    "the file has " + all.length + " bytes", file.toString(), width + " or more", ""));
        }
        return windows;
    }

    private static byte[] bytes(Path file, long most) {
        try {
            if (Files.size(file) > most) {
                throw new KilnException(Failure.SAMPLES.problem(
                        "the file has " + Files.size(file) + " bytes", file.toString(), "at most " + most, ""));
            }
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
