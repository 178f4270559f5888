// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.ir.Parameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Samples as files: {@code input_<k>.bin} holds all inputs of sample k in model order, concatenated, raw little-endian.
 * Samples are in the order of their numbers.
 */
final class SampleFolder {
    private static final Pattern INPUT = Pattern.compile("input_(0|[1-9][0-9]{0,8})\\.bin");
    private static final int MAX_FINDINGS = 10;

    private SampleFolder() {}

    static List<Sample> read(Path folder, List<Parameter> inputs, OtherSamples others) {
        TreeMap<Integer, Path> files = new TreeMap<>();
        try (Stream<Path> entries = Files.list(folder)) {
            entries.forEach(entry -> {
                Matcher matcher = INPUT.matcher(entry.getFileName().toString());
                if (matcher.matches()) {
                    files.put(Integer.valueOf(matcher.group(1)), entry);
                }
            });
        } catch (IOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
        if (files.isEmpty()) {
            return others.read(folder, inputs);
        }
        if (Files.isRegularFile(folder.resolve(OtherSamples.FORMS))) {
            throw new KilnException(Failure.SAMPLES.problem(
                    "the folder has " + OtherSamples.FORMS + ", for pictures and recordings, and "
                            + files.firstEntry().getValue().getFileName(),
                    folder.toString(),
                    "one kind of samples",
                    "Delete one of them"));
        }
        long wanted = inputs.stream().mapToLong(input -> input.type().bytes()).sum();
        if (files.size() > SampleReader.MAX_SAMPLES || wanted * files.size() > SampleReader.MAX_BYTES) {
            throw SampleReader.tooLarge(folder.toString());
        }
        Problems problems = new Problems(Failure.QUANTIZE);
        List<Sample> samples = new ArrayList<>();
        for (Path file : files.values()) {
            if (problems.list().size() == MAX_FINDINGS) {
                break;
            }
            read(file, wanted, inputs, problems).ifPresent(samples::add);
        }
        problems.throwIfAny();
        return samples;
    }

    private static Optional<Sample> read(Path file, long wanted, List<Parameter> inputs, Problems problems) {
        Optional<Problem> pointer = GitLfs.pointer(file);
        if (pointer.isPresent()) {
            problems.add(pointer.get());
            return Optional.empty();
        }
        try {
            if (Files.size(file) != wanted) {
                problems.add(
                        "the sample has " + Files.size(file) + " bytes",
                        file.toString(),
                        wanted + " bytes: "
                                + inputs.stream()
                                        .map(i ->
                                                "`" + i.name() + "` " + i.type().text())
                                        .collect(Collectors.joining(", then ")),
                        "Write every input in this shape, as raw little-endian numbers");
                return Optional.empty();
            }
            return Optional.of(
                    new Sample(file.getFileName().toString(), SampleReader.split(Files.readAllBytes(file), inputs)));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
