// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ModelFile;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.relay.build.FunctionBuilder.CalledFunctions;
import io.kiln.ir.CallRules;
import io.kiln.ir.Function;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelayParser;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Module;
import io.kiln.reference.ConstantFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads Relay text ({@code .relay}, version 0.0.5) into the graph IR: {@code @main} and the functions that its
 * operators call. Constants are inline, in the metadata section, or parameters of {@code @main} whose data is in a
 * parameters file of the same name ({@code .params}). The files are untrusted.
 *
 * <p>Reading the output of {@link io.kiln.ir.text.RelayPrinter#astext} gives the same function, provided that its ids
 * count parameters, then bindings, as a frontend numbers them, and that it has no fused groups.
 */
public final class RelayFrontend {
    /** Suffix of text files. */
    public static final String SUFFIX = ".relay";

    /** Usual size limit of the text; Base64 makes constants a third larger than {@link #USUAL_PARAMS_BYTES}. */
    private static final long USUAL_TEXT_BYTES = 48L << 20;

    /** Usual size limit of the parameters file; the memories of few boards hold a larger one. */
    private static final long USUAL_PARAMS_BYTES = 32L << 20;

    private static final String PARAMS_SUFFIX = ".params";

    private RelayFrontend() {}

    /** Whether a file is Relay text, by its name. */
    public static boolean accepts(Path file) {
        return ModelFile.name(file).endsWith(SUFFIX);
    }

    /** Path of the parameters file of a text. */
    public static Path paramsOf(Path file) {
        String name = ModelFile.name(file);
        String base = accepts(file) ? name.substring(0, name.length() - SUFFIX.length()) : name;
        return file.resolveSibling(base + PARAMS_SUFFIX);
    }

    /**
     * Reads a text and, if it exists, the parameters file beside it.
     *
     * @param moduleName name of the resulting function
     * @param shapes shapes that replace those of inputs in the text
     * @throws KilnException with all errors and unsupported operators of the files
     */
    public static Function read(Path file, String moduleName, InputShapes shapes) {
        return read(file, moduleName, shapes, ReadLimits.STANDARD);
    }

    /**
     * Reads a text and its parameters file within other limits.
     *
     * @param limits what may be read
     */
    public static Function read(Path file, String moduleName, InputShapes shapes, ReadLimits limits) {
        Path params = paramsOf(file);
        Bytes text = ModelFile.read(file, limits, USUAL_TEXT_BYTES, "a .relay file");
        Optional<Bytes> parameters = Files.exists(params)
                ? Optional.of(ModelFile.read(params, limits, USUAL_PARAMS_BYTES, "a .params file"))
                : Optional.empty();
        return read(text, ModelFile.name(file), parameters, ModelFile.name(params), moduleName, shapes);
    }

    /** As {@link #read(Path, String, InputShapes)}, with the text's own shapes. */
    public static Function read(Path file, String moduleName) {
        return read(file, moduleName, InputShapes.NONE);
    }

    /** As above for text in memory, with the text's own shapes. */
    public static Function read(
            Bytes text, String fileName, Optional<Bytes> params, String paramsName, String moduleName) {
        return read(text, fileName, params, paramsName, moduleName, InputShapes.NONE);
    }

    /**
     * Reads a text from memory.
     *
     * @param text UTF-8
     * @param fileName its name in messages and origins
     * @param params the parameters file
     * @param paramsName its name in messages
     * @param moduleName name of the resulting function
     * @param shapes shapes that replace those of inputs in the text
     * @throws KilnException with all errors and unsupported operators
     */
    public static Function read(
            Bytes text,
            String fileName,
            Optional<Bytes> params,
            String paramsName,
            String moduleName,
            InputShapes shapes) {
        List<NamedTensor> tensors =
                params.map(content -> ParameterFile.read(content, paramsName)).orElse(List.of());
        GraphProblems findings = new GraphProblems(fileName);
        Module module = RelayParser.parse(text.text(), fileName, findings::add);
        boolean isEmpty = module.definitions().stream()
                .allMatch(d -> d.results().isEmpty() && d.statements().isEmpty());
        if (findings.found() > 0 && isEmpty) {
            findings.throwIfAny();
        }
        long bytes = (long) text.size() + params.map(Bytes::size).orElse(0);
        return new Functions(module, findings, bytes).main(moduleName, tensors, paramsName, shapes);
    }

    /**
     * The functions of a text by name, each read when the first operator calls it. Recursion is refused. Every caller
     * compiles its callees again, so their total number is limited.
     */
    static final class Functions implements CalledFunctions {
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
}
