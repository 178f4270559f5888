// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.DeviceHooks;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.codegen.CodeOrigin;
import io.kiln.target.CompositeTarget;
import io.kiln.transform.Pass;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The code generators of a composite target, which are somebody else's: whatever they do wrong becomes a message that names them. */
public final class Externals {
    private final CompositeTarget target;
    private final List<Part> parts;

    /** A code generator with its part of the target. */
    private record Part(ExternalCodegen codegen, CompositeTarget.External external) {}

    private Externals(CompositeTarget target, List<Part> parts) {
        this.target = target;
        this.parts = List.copyOf(parts);
    }

    /**
     * The code generators of a target.
     *
     * @param own further code generators, before those found as services
     * @throws KilnException naming each one that does not exist, or whose options are wrong
     */
    public static Externals of(CompositeTarget target, List<ExternalCodegen> own) {
        TreeMap<String, ExternalCodegen> known = new TreeMap<>();
        if (!target.externals().isEmpty()) {
            services().forEach(codegen -> known.put(codegen.name(), codegen));
        }
        own.forEach(codegen -> known.put(codegen.name(), codegen));
        Problems problems = new Problems();
        List<Part> parts = new ArrayList<>();
        for (CompositeTarget.External external : target.externals()) {
            ExternalCodegen codegen = known.get(external.name());
            if (codegen == null) {
                problems.add(
                        "there is no code generator `" + external.name() + "`",
                        "target `" + target.text() + "`",
                        "one of " + String.join(", ", known.keySet()),
                        "Correct kiln.target, or add the code generator to the plugin's dependencies");
            } else {
                guarded(external.name(), "check its options", () -> codegen.check(external, target.host()))
                        .ifPresent(problems::add);
                parts.add(new Part(codegen, external));
            }
        }
        problems.throwIfAny();
        return new Externals(target, parts);
    }

    private static List<ExternalCodegen> services() {
        return guarded(
                "a service of " + ExternalCodegen.class.getName(),
                "be loaded",
                () -> ServiceLoader.load(ExternalCodegen.class, ExternalCodegen.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList());
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return parts.isEmpty();
    }

    /** The whole target. */
    public CompositeTarget target() {
        return target;
    }

    /** Their names, by descending priority. */
    public List<String> names() {
        return target.externals().stream().map(CompositeTarget.External::name).toList();
    }

    /** The pass that gives them their operators. */
    public Optional<PartitionGraph> pass() {
        return parts.isEmpty() ? Optional.empty() : Optional.of(new PartitionGraph(tables()));
    }

    /** The pass as what the pipeline runs before fusion. */
    public List<Pass> passes() {
        return pass().<List<Pass>>map(List::of).orElse(List.of());
    }

    private List<PatternTable> tables() {
        return parts.stream()
                .map(part -> new PatternTable(
                        part.external.name(),
                        guarded(
                                part.external.name(),
                                "state its patterns",
                                () -> List.copyOf(part.codegen.patterns(part.external, target.host())))))
                .toList();
    }

    Optional<DeviceHooks> device(String name) {
        return guarded(name, "say whether it has a device", part(name).codegen::hasDevice)
                ? Optional.of(DeviceHooks.of(name))
                : Optional.empty();
    }

    ExternalCall call(ExternalFunction function) {
        Part part = part(function.composite().compiler());
        ExternalCall call = guarded(
                part.external.name(),
                "take " + function.composite().name() + " (" + origin(function) + ")",
                () -> part.codegen.call(function, part.external, target.host()));
        if (call.contextBytes() < 0 || call.contextBytes() > Integer.MAX_VALUE) {
            throw wrong(
                    part.external.name(),
                    "asks for " + call.contextBytes() + " bytes of context for "
                            + function.composite().name());
        }
        return call;
    }

    /**
     * The files of external functions.
     *
     * @param file name without ending of the file of the n-th code generator that has functions, from 0
     */
    public List<Artifact> generate(CodeOrigin origin, IntFunction<String> file, List<ExternalFunction> functions) {
        List<Artifact> artifacts = new ArrayList<>();
        int files = 0;
        for (String name : names()) {
            List<ExternalFunction> own = functions.stream()
                    .filter(function -> function.composite().compiler().equals(name))
                    .toList();
            if (!own.isEmpty()) {
                artifacts.addAll(generate(origin, name, file.apply(files), own));
                files++;
            }
        }
        return artifacts;
    }

    private List<Artifact> generate(CodeOrigin origin, String name, String file, List<ExternalFunction> functions) {
        Part part = part(name);
        ExternalUnit unit = new ExternalUnit(origin.source(), file, functions, part.external, target.host());
        List<Artifact> artifacts = guarded(name, "generate code", () -> List.copyOf(part.codegen.generate(unit)));
        functions.stream()
                .filter(function ->
                        artifacts.stream().noneMatch(artifact -> artifact.text().contains(function.symbol())))
                .findFirst()
                .ifPresent(function -> {
                    throw wrong(
                            name,
                            "generated no function " + function.symbol() + " for "
                                    + function.composite().name());
                });
        return artifacts;
    }

    private Part part(String name) {
        return parts.stream()
                .filter(part -> part.external.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no code generator " + name));
    }

    private static String origin(ExternalFunction function) {
        return function.body().root().origin().text();
    }

    private static <T> T guarded(String name, String what, Supplier<T> call) {
        T result;
        try {
            result = call.get();
        } catch (KilnException e) {
            throw e;
        } catch (RuntimeException | LinkageError | java.util.ServiceConfigurationError e) {
            throw new KilnException(new Problem(
                    "it could not " + what + ": " + e,
                    "code generator " + name,
                    "",
                    "Report this to its maker, or take it out of kiln.target"));
        }
        if (result == null) {
            throw wrong(name, "answered null when it was to " + what);
        }
        return result;
    }

    private static KilnException wrong(String name, String what) {
        return new KilnException(new Problem(
                "it " + what, "code generator " + name, "", "Report this to its maker, or take it out of kiln.target"));
    }
}
