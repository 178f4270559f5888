// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.partition.PartitionGraph.PatternTable;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A foreign code generator, with its part of a target: its exceptions, and results that cannot be right, become messages that name it. */
record GuardedCodegen(ExternalCodegen codegen, CompositeTarget.External external, Target host) {
    private static final String ADVICE = "Report this to its maker, or take it out of kiln.target";
    private static final Pattern C_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,99}");

    /** Names of parameters without their last underscore, see {@link ExternalCall#parameters}. */
    private static final Pattern RESERVED = Pattern.compile("input|output|context|device");
    /** The files of a model's libraries are numbered. */
    private static final Pattern LIBRARY = Pattern.compile(".*_lib[0-9]+\\..*");

    String name() {
        return external.name();
    }

    /** The code generator's part of the target. */
    String text() {
        return external.text();
    }

    Optional<Problem> check() {
        return guarded("check its options", () -> codegen.check(external, host));
    }

    Optional<DeviceHooks> device() {
        return guarded("say whether it has a device", codegen::hasDevice)
                ? Optional.of(DeviceHooks.of(name()))
                : Optional.empty();
    }

    boolean runsOnCore() {
        return guarded("say what computes its functions", codegen::runsOnCore);
    }

    /** The code generator's patterns, whose predicates are guarded, too. */
    PatternTable table() {
        List<CompositePattern> patterns =
                guarded("state its patterns", () -> List.copyOf(codegen.patterns(external, host)));
        Set<String> names = new HashSet<>();
        for (CompositePattern pattern : patterns) {
            if (!pattern.name().startsWith(name() + ".") || !names.add(pattern.name())) {
                throw wrong("named a pattern `" + pattern.name() + "`; expected " + name() + ".<what>, each once");
            }
        }
        return new PatternTable(name(), patterns.stream().map(this::guarded).toList());
    }

    private CompositePattern guarded(CompositePattern pattern) {
        String what = "compare operators with " + pattern.name();
        return new CompositePattern(
                pattern.name(),
                pattern.steps().stream()
                        .map(step -> new PatternStep(
                                step.relay(),
                                op -> guarded(what, () -> step.accepts().test(op)),
                                step.optional()))
                        .toList(),
                pattern.conditions().stream()
                        .map(condition -> new Condition(
                                condition.failure(),
                                match -> guarded(
                                        what + " (" + origin(match) + ")",
                                        () -> condition.holds().test(match))))
                        .toList());
    }

    ExternalCall call(ExternalFunction function) {
        String composite = function.composite().name();
        ExternalCall call = guarded(
                "take " + composite + " (" + origin(function.body()) + ")",
                () -> codegen.call(function, external, host));
        if (call.contextBytes() < 0 || call.contextBytes() > Integer.MAX_VALUE) {
            throw wrong("asks for " + call.contextBytes() + " bytes of context for " + composite);
        }
        if (Integer.bitCount(call.alignment()) != 1 || call.alignment() < 1 || call.alignment() > 64) {
            throw wrong("asks for an alignment of " + call.alignment() + " bytes for " + composite);
        }
        Set<String> names = new HashSet<>();
        for (ExternalCall.Table table : call.constants()) {
            int size = table.data().size();
            if (!C_NAME.matcher(table.name()).matches() || !names.add(table.name())) {
                throw wrong("names a table of " + composite + " `" + table.name() + "`; expected a C name, each once");
            }
            if (RESERVED.matcher(table.name()).matches()) {
                throw wrong("names a table of " + composite + " `" + table.name()
                        + "`, as the parameter of a tensor, the context or the device is named");
            }
            if (size == 0 || size % table.dtype().bytes() != 0) {
                throw wrong("gives the table `" + table.name() + "` of " + composite + " " + size
                        + " bytes, which are not whole elements of type "
                        + table.dtype().text());
            }
        }
        return call;
    }

    List<Artifact> generate(ExternalUnit unit) {
        List<Artifact> artifacts = guarded("generate code", () -> List.copyOf(codegen.generate(unit)));
        filesProblem(artifacts, unit, this::call).ifPresent(what -> {
            throw wrong(what);
        });
        return artifacts;
    }

    ExternalUnit unit(String model, String file, List<ExternalFunction> functions) {
        return new ExternalUnit(model, file, functions, external, host);
    }

    private static String origin(Match match) {
        return match.root().origin().text();
    }

    private <T> T guarded(String what, Supplier<T> call) {
        return guarded(name(), what, call);
    }

    /**
     * Calls foreign code and returns its result.
     *
     * @param name of the code generator
     * @param what it is to do
     * @throws KilnException naming it, if it throws or returns null
     */
    static <T> T guarded(String name, String what, Supplier<T> call) {
        String failed = "could not " + what + ": ";
        return Extensions.call(
                () -> {
                    try {
                        return Extensions.told(call);
                    } catch (KilnException e) {
                        throw retold(e, name, failed);
                    }
                },
                why -> wrong(name, failed + why));
    }

    private static KilnException retold(KilnException failure, String name, String failed) {
        return new KilnException(failure.problems().stream()
                .map(problem -> new Problem(
                        problem.family(),
                        "it " + failed + problem.what(),
                        "code generator " + name + (problem.where().isEmpty() ? "" : ", " + problem.where()),
                        problem.expected(),
                        problem.next()))
                .toList());
    }

    private KilnException wrong(String what) {
        return wrong(name(), what);
    }

    private static KilnException wrong(String name, String what) {
        return Failure.EXTENSION.exception("it " + what, "code generator " + name, "", ADVICE);
    }

    /**
     * What is wrong with the files of a code generator, behind the word {@code it}: they may take no other file's name, and define what is called.
     *
     * @param calls what is called
     */
    static Optional<String> filesProblem(
            List<Artifact> artifacts, ExternalUnit unit, Function<ExternalFunction, ExternalCall> calls) {
        return Stream.concat(
                        artifacts.stream().flatMap(artifact -> nameProblem(artifact, unit).stream()),
                        unit.functions().stream()
                                .flatMap(function -> definition(artifacts, function, calls.apply(function)).stream()))
                .findFirst();
    }

    private static Optional<String> nameProblem(Artifact artifact, ExternalUnit unit) {
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
