// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * How a program flashes a board. Its texts have placeholders: {@code {image}} is the file, {@code {start}} the first address, {@code
 * {probe}} the arguments that choose the probe, and each parameter has one. {@code {bin}}, {@code {address}}, {@code {size}}, {@code
 * {hexsize}}, {@code {offset}} and {@code {readback}} belong to a segment of the image: what names them is done for each segment. Patterns are valid
 * regular expressions.
 *
 * @param id its name, as in {@code kiln.flash.runner}
 * @param title its name for people
 * @param program what is started; without steps Kiln itself copies the file to a drive
 * @param form the file that it takes
 * @param probe how it is told which device is meant
 * @param parameters what a board says about it
 * @param procedure what it does, and how its answers are understood
 */
public record RunnerDefinition(
        String id,
        String title,
        Program program,
        Form form,
        ProbeName probe,
        List<Parameter> parameters,
        Procedure procedure) {
    public RunnerDefinition {
        parameters = List.copyOf(parameters);
    }

    /** Files with the image. */
    public enum Form {
        /** Intel HEX. */
        HEX,
        /** A flat file for each segment. */
        BIN,
        /** UF2, for boards that name their chip's family. */
        UF2
    }

    /**
     * A program on the PATH.
     *
     * @param names its names, the first that is found counts
     * @param version arguments with which it prints its version; empty if none do
     * @param install how to get it
     */
    public record Program(List<String> names, List<String> version, String install) {
        public Program {
            names = List.copyOf(names);
            version = List.copyOf(version);
        }
    }

    /**
     * How a device is named.
     *
     * @param what what its name is
     * @param pattern the names that are possible
     * @param required whether it must be named
     * @param arguments those that choose it, with {@code {name}}
     */
    public record ProbeName(String what, String pattern, boolean required, List<String> arguments) {
        public ProbeName {
            arguments = List.copyOf(arguments);
        }
    }

    /**
     * What a board says.
     *
     * @param name its key
     * @param pattern the values that are possible, none of which begins like an option
     * @param value its default; empty if a board must say it
     * @param what its meaning
     */
    public record Parameter(String name, String pattern, Optional<String> value, String what) {}

    /**
     * What is done.
     *
     * @param files scripts by name, line by line
     * @param steps runs of the program, in order
     * @param verifies whether success means that the flash was read back and is equal
     * @param begins what the program says when it changes the flash
     * @param failures what it says when it fails, causes before their consequences
     */
    public record Procedure(
            SortedMap<String, List<String>> files,
            List<Step> steps,
            boolean verifies,
            Optional<String> begins,
            List<Complaint> failures) {
        public Procedure {
            files = new TreeMap<>(files);
            steps = List.copyOf(steps);
            failures = List.copyOf(failures);
        }

        /** Every text that may have placeholders. */
        Stream<String> texts() {
            return Stream.concat(
                    files.values().stream().flatMap(List::stream),
                    steps.stream().flatMap(step -> step.arguments().stream()));
        }

        /** Whether the program reads the flash into files, which Kiln compares. */
        public boolean readsBack() {
            return texts().anyMatch(text -> text.contains("{readback}"));
        }
    }

    /**
     * One run of the program.
     *
     * @param expect what a run that succeeds prints
     */
    public record Step(List<String> arguments, Optional<String> expect) {
        public Step {
            arguments = List.copyOf(arguments);
        }
    }

    /**
     * What a failure looks like.
     *
     * @param kind its kind, as in {@code flash.json}
     * @param text part of a line; the group {@code address} is the address concerned
     */
    public record Complaint(String kind, String text) {}

    /** The values of all parameters, those of a board before the defaults; a parameter without any is absent. */
    public Map<String, String> values(Map<String, String> board) {
        Map<String, String> values = new TreeMap<>();
        for (Parameter each : parameters) {
            each.value().ifPresent(value -> values.put(each.name(), value));
        }
        values.putAll(board);
        return values;
    }
}
