// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.artifact.NamedTensor;
import io.kiln.base.Failure;
import io.kiln.base.NearMiss;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.build.FunctionBuilder.CalledFunctions;
import io.kiln.ir.CallRules;
import io.kiln.ir.Function;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Module;
import io.kiln.reference.ConstantFolder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The functions of a text by name, each read when the first operator calls it. Recursion is refused. Every caller
 * compiles its callees again, so their total number is limited.
 */
final class Functions implements CalledFunctions {
    private static final String MAIN = "@main";

    private final Map<String, Definition> definitions = new LinkedHashMap<>();
    private final Metadata metadata;
    private final GraphProblems findings;
    private final ConstantFolder folder;
    private final boolean isWhole;
    private final Map<String, Optional<Function>> read = new HashMap<>();
    private final IdentityHashMap<Function, Integer> sizes = new IdentityHashMap<>();
    private final Set<String> open = new HashSet<>();

    /** @param bytes size of the text and its parameters */
    Functions(Module module, GraphProblems findings, long bytes) {
        this.folder = new ConstantFolder(bytes);
        this.metadata = module.metadata();
        this.findings = findings;
        this.isWhole = findings.found() == 0;
        for (Definition definition : module.definitions()) {
            if (definitions.putIfAbsent(definition.name(), definition) != null) {
                findings.add(
                        definition.place(),
                        definition.name() + " is defined twice",
                        "a different name for every function",
                        "");
            }
        }
    }

    /**
     * {@code @main}.
     *
     * @throws io.kiln.base.KilnException with every problem
     */
    Function main(String moduleName, List<NamedTensor> params, String paramsFile, InputShapes shapes) {
        Definition main = definitions.get(MAIN);
        if (main == null) {
            findings.add(Failure.MODEL.problem("the text has no @main", findings.file(), "def @main(…) {…}", ""));
            findings.throwIfAny();
        }
        open.add(MAIN);
        Function function = new DefinedFunction(main, this, params, paramsFile, shapes, findings).read(moduleName);
        limit(function, main);
        findings.throwIfAny();
        definitions.values().stream()
                .filter(d -> !d.name().equals(MAIN) && !read.containsKey(d.name()))
                .forEach(d -> findings.add(
                        d.place(), d.name() + " is never called", "functions that tfl.if or tfl.while call", ""));
        findings.throwIfAny();
        return function.withIdsInOrder();
    }

    /** Whether every line of the text could be parsed. */
    boolean areWhole() {
        return isWhole;
    }

    @Override
    public ConstantFolder folder() {
        return folder;
    }

    @Override
    public Metadata metadata() {
        return metadata;
    }

    @Override
    public Optional<Function> called(String name, Place place) {
        Definition definition = definitions.get(name);
        if (definition == null) {
            findings.add(
                    place,
                    "there is no function " + name,
                    "a function of the text",
                    NearMiss.didYouMean(name, definitions.keySet()));
            return Optional.empty();
        }
        if (open.contains(name)) {
            findings.add(place, name + " calls itself", "functions without recursion", "Use tfl.while for loops");
            return Optional.empty();
        }
        if (!read.containsKey(name)) {
            read.put(name, read(definition, place));
        }
        return read.get(name);
    }

    private Optional<Function> read(Definition definition, Place place) {
        if (open.size() > CallRules.MAX_DEPTH) {
            findings.add(
                    place,
                    "functions call each other more than " + CallRules.MAX_DEPTH + " deep",
                    "a flatter model",
                    "");
            return Optional.empty();
        }
        int before = findings.found();
        open.add(definition.name());
        DefinedFunction defined = new DefinedFunction(definition, this, List.of(), "", InputShapes.NONE, findings);
        Function function = defined.read(defined.ownName());
        open.remove(definition.name());
        limit(function, definition);
        return findings.found() == before ? Optional.of(function) : Optional.empty();
    }

    private void limit(Function function, Definition definition) {
        int called = function.functions().stream().mapToInt(sizes::get).sum();
        sizes.put(function, 1 + called);
        if (called > CallRules.MAX_FUNCTIONS) {
            findings.add(
                    definition.place(),
                    definition.name() + " comes to " + called + " functions, one for every call",
                    "at most " + CallRules.MAX_FUNCTIONS,
                    "Call fewer functions");
        }
    }
}
