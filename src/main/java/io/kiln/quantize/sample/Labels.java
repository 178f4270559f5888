// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Labels of samples: lines {@code sample,label}, where the sample is its number or its file's name, and the label the
 * index of its class. A first line of other words is a heading.
 *
 * @param file for messages
 * @param bySample the label by the number of the sample, or by the name of its file if it is a picture or a recording
 */
record Labels(Path file, Map<String, Integer> bySample) {
    private static final Pattern LINE = Pattern.compile("\\s*(.+?)\\s*[,;]\\s*([0-9]{1,9})\\s*");
    private static final Pattern NUMBERED = Pattern.compile("(?:input_|sample )?([0-9]{1,9})(?:\\.bin)?");
    private static final int MAX_FINDINGS = 10;
    private static final long MAX_BYTES = 1L << 24;

    /**
     * Reads a file.
     *
     * @throws KilnException with its first wrong lines
     */
    static Labels read(Path file) {
        List<String> lines = lines(file);
        Problems problems = new Problems(Failure.QUANTIZE);
        Map<String, Integer> labels = new LinkedHashMap<>();
        for (int i = 0; i < lines.size() && problems.list().size() < MAX_FINDINGS; i++) {
            Matcher matcher = LINE.matcher(lines.get(i));
            boolean isHeading = i == 0 && !lines.get(i).matches(".*[0-9].*");
            if (lines.get(i).isBlank() || isHeading) {
                continue;
            }
            if (!matcher.matches()) {
                problems.add("the line is `" + lines.get(i) + "`", file + ":" + (i + 1), "sample,label", "");
            } else if (labels.put(key(matcher.group(1)), Integer.valueOf(matcher.group(2))) != null) {
                problems.add("sample " + matcher.group(1) + " has two labels", file + ":" + (i + 1), "one each", "");
            }
        }
        problems.throwIfAny();
        return new Labels(file, labels);
    }

    private static List<String> lines(Path file) {
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw Failure.QUANTIZE.exception(
                        "the file of labels is too large", file.toString(), "a line for each sample", "");
            }
            return Files.readAllLines(file);
        } catch (CharacterCodingException e) {
            throw Failure.QUANTIZE.exception("the labels are not text", file.toString(), "lines in UTF-8", "");
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * The samples with their labels.
     *
     * @throws KilnException unless every sample has one, and every label a sample
     */
    List<Sample> applied(List<Sample> samples) {
        List<Sample> labelled = new ArrayList<>();
        Map<String, Integer> left = new LinkedHashMap<>(bySample);
        List<String> missing = new ArrayList<>();
        for (Sample sample : samples) {
            Integer label = left.remove(key(sample.name()));
            if (label == null) {
                missing.add(sample.name());
            } else {
                labelled.add(sample.labelled(label));
            }
        }
        Problems problems = new Problems(Failure.QUANTIZE);
        if (!missing.isEmpty()) {
            problems.add(
                    missing.size() + " samples have no label, the first is " + missing.get(0),
                    file.toString(),
                    "a line sample,label for each",
                    "Add the labels, or name no file");
        }
        if (!left.isEmpty()) {
            problems.add(
                    left.size() + " labels have no sample, the first is that of "
                            + left.keySet().iterator().next(),
                    file.toString(),
                    "numbers of samples, or the names of their files",
                    "Correct the numbers");
        }
        problems.throwIfAny();
        return labelled;
    }

    private static String key(String sample) {
        Matcher matcher = NUMBERED.matcher(sample);
        return matcher.matches() ? Integer.valueOf(matcher.group(1)).toString() : sample;
    }
}
