// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks the files of a code generator: that they take no other file's name, and that they define the functions that are called. */
final class ExternalFiles {
    /** The files of a model's libraries are numbered. */
    private static final Pattern LIBRARY = Pattern.compile(".*_lib[0-9]+\\..*");

    private ExternalFiles() {}

    /**
     * The first problem, behind the word {@code it}.
     *
     * @param calls what is called
     */
    static Optional<String> problem(
            List<Artifact> artifacts, ExternalUnit unit, Function<ExternalFunction, ExternalCall> calls) {
        return Stream.concat(
                        artifacts.stream().flatMap(artifact -> name(artifact, unit).stream()),
                        unit.functions().stream()
                                .flatMap(function -> definition(artifacts, function, calls.apply(function)).stream()))
                .findFirst();
    }

    private static Optional<String> name(Artifact artifact, ExternalUnit unit) {
        String name = unit.external().name();
        String file = artifact.fileName();
        if (!artifact.codegenId().equals(name)) {
            return Optional.of("says that `" + artifact.codegenId() + "` generated its file " + file);
        }
        if (!artifact.targetKey().equals(Artifact.HOST) && !artifact.targetKey().equals(name)) {
            return Optional.of("made " + file + " for the target key `" + artifact.targetKey() + "`; expected "
                    + Artifact.HOST + " or " + name);
        }
        boolean isOfKiln = artifact.kind().isNative()
                && !file.startsWith(unit.file() + ".")
                && (LIBRARY.matcher(file).matches() || file.startsWith(InterfaceNames.PREFIX));
        return isOfKiln
                ? Optional.of("named a file " + file + ", as Kiln names its own; expected " + unit.file()
                        + " or a name of its own")
                : Optional.empty();
    }

    private static Optional<String> definition(List<Artifact> artifacts, ExternalFunction function, ExternalCall call) {
        String symbol = function.symbol();
        List<Artifact> code = artifacts.stream()
                .filter(artifact -> artifact.kind() == ArtifactKind.SOURCE || artifact.kind() == ArtifactKind.OBJECT)
                .filter(artifact -> artifact.text().contains(symbol))
                .toList();
        if (code.isEmpty()) {
            return Optional.of("generated no function " + symbol + " for "
                    + function.composite().name());
        }
        Pattern definition = Pattern.compile("\\b" + symbol + "\\s*\\(([^;{}()]*)\\)\\s*\\{");
        List<String> passed = types(call.parameters(function).stream());
        for (Artifact source : code) {
            Matcher found = definition.matcher(source.text());
            if (source.kind() == ArtifactKind.SOURCE && found.find()) {
                List<String> taken = types(Arrays.stream(found.group(1).split(",", -1)));
                if (!taken.equals(passed)) {
                    return Optional.of(
                            "generated " + symbol + "(" + String.join(", ", taken) + ") in " + source.fileName()
                                    + "; expected (" + String.join(", ", passed) + "), which it is called with");
                }
            }
        }
        return Optional.empty();
    }

    /** Types of parameters without names, qualifiers of the pointers themselves, and superfluous blanks. */
    private static List<String> types(Stream<String> parameters) {
        return parameters
                .map(parameter -> parameter.strip().replaceAll("\\s+", " ").replaceAll("\\s*\\*\\s*", "* "))
                .map(parameter -> parameter
                        .replaceAll("\\* (restrict |const )*\\w*$", "*")
                        .strip())
                .toList();
    }
}
