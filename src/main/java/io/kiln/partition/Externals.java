// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.DeviceHooks;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.spi.CodeGenerator;
import io.kiln.target.CompositeTarget;
import io.kiln.transform.Pass;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** The code generators of a composite target, each of them {@linkplain GuardedCodegen guarded}. */
public final class Externals {
    private final CompositeTarget target;
    private final List<GuardedCodegen> parts;

    private Externals(CompositeTarget target, List<GuardedCodegen> parts) {
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
        return of(target, own, ExternalCodegen.class.getClassLoader());
    }

    /**
     * The code generators of a target.
     *
     * @param services where services are looked for
     */
    static Externals of(CompositeTarget target, List<ExternalCodegen> own, ClassLoader services) {
        Map<String, ExternalCodegen> known = target.externals().isEmpty() ? Map.of() : known(own, services);
        Problems problems = new Problems(Failure.EXTENSION);
        List<GuardedCodegen> parts = new ArrayList<>();
        for (CompositeTarget.External external : target.externals()) {
            ExternalCodegen codegen = known.get(external.name());
            if (codegen == null) {
                problems.add(
                        "there is no code generator `" + external.name() + "`",
                        "target `" + target.text() + "`",
                        "one of " + String.join(", ", known.keySet()),
                        external.name().equals(UserFunctions.NAME)
                                ? "Name C functions of your own in <externals>, or leave `user` out of kiln.target"
                                : "Correct kiln.target, or add the code generator to the plugin's dependencies");
            } else {
                GuardedCodegen part = new GuardedCodegen(codegen, external, target.host());
                part.check().ifPresent(problems::add);
                parts.add(part);
            }
        }
        problems.throwIfAny();
        return new Externals(target, parts);
    }

    private static Map<String, ExternalCodegen> known(List<ExternalCodegen> own, ClassLoader services) {
        List<ExternalCodegen> all = new ArrayList<>(Extensions.services(
                ExternalCodegen.class, CodeGenerator.class, PromisedCodegen::new, "code generator", services));
        all.addAll(own);
        Map<String, ExternalCodegen> known = new TreeMap<>();
        for (ExternalCodegen codegen : all) {
            String type = Extensions.name(codegen);
            ExternalCodegen other = known.put(GuardedCodegen.guarded(type, "state its name", codegen::name), codegen);
            if (other != null) {
                throw Failure.EXTENSION.exception(
                        "it has the name of " + Extensions.name(other) + ", `" + codegen.name() + "`",
                        "code generator " + type,
                        "a name of its own",
                        "Take one of them out of the plugin's dependencies");
            }
        }
        return known;
    }

    /** The whole composite target. */
    public CompositeTarget target() {
        return target;
    }

    /**
     * Target strings by the keys of artifacts: the host's, and that of each code generator that made files for a target of its own.
     *
     * @param artifacts of all code generators
     */
    public Map<String, String> targets(List<Artifact> artifacts) {
        Map<String, String> targets =
                new TreeMap<>(Map.of(Artifact.HOST, target.host().text()));
        parts.stream()
                .filter(part -> artifacts.stream()
                        .anyMatch(artifact -> artifact.targetKey().equals(part.name())))
                .forEach(part -> targets.put(part.name(), part.text()));
        return targets;
    }

    /** Their names, by descending priority. */
    public List<String> names() {
        return target.externals().stream().map(CompositeTarget.External::name).toList();
    }

    /** The pass that gives them their operators. */
    public Optional<PartitionGraph> pass() {
        return parts.isEmpty()
                ? Optional.empty()
                : Optional.of(new PartitionGraph(
                        parts.stream().map(GuardedCodegen::table).toList()));
    }

    /** The partitioning as a list of passes that run before fusion; empty without code generators. */
    public List<Pass> passes() {
        return pass().<List<Pass>>map(List::of).orElse(List.of());
    }

    Optional<DeviceHooks> device(String name) {
        return part(name).device();
    }

    /** Key of the target that reads and writes what a function gets. */
    public String targetKey(ExternalFunction function) {
        GuardedCodegen part = part(function.composite().compiler());
        return part.runsOnCore() ? Artifact.HOST : part.name();
    }

    ExternalCall call(ExternalFunction function) {
        return part(function.composite().compiler()).call(function);
    }

    /**
     * The files of external functions.
     *
     * @param file name without ending of the file of the n-th code generator that has functions, from 0
     */
    public List<Artifact> generate(CodeOrigin origin, IntFunction<String> file, List<ExternalFunction> functions) {
        List<Artifact> artifacts = new ArrayList<>();
        int files = 0;
        for (GuardedCodegen part : parts) {
            List<ExternalFunction> own = functions.stream()
                    .filter(function -> function.composite().compiler().equals(part.name()))
                    .toList();
            if (!own.isEmpty()) {
                artifacts.addAll(part.generate(part.unit(origin.source(), file.apply(files), own)));
                files++;
            }
        }
        return artifacts;
    }

    private GuardedCodegen part(String name) {
        return parts.stream()
                .filter(part -> part.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no code generator " + name));
    }
}
