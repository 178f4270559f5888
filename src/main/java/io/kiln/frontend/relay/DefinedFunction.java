// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.artifact.NamedTensor;
import io.kiln.base.Failure;
import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.RelayFrontend.Functions;
import io.kiln.frontend.relay.build.Bindings;
import io.kiln.frontend.relay.build.FunctionBuilder;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.legality.Legality;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax.Definition;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Param;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Converts a definition to a function: parameters found in the parameters file become constants, the others inputs. */
final class DefinedFunction {
    private static final String NAME = "mod_name";
    private static final String COMPILER = "Compiler";
    private static final Pattern ANY = Pattern.compile(".*", Pattern.DOTALL);
    private static final String OTHERWISE = "Change the model, or compile its .tflite file";
    static final String EXPORT_AGAIN = "Export text and parameters together";

    private final Definition definition;
    private final List<NamedTensor> params;
    private final String paramsFile;
    private final OpenShapes shapes;
    private final Functions functions;
    private final GraphProblems findings;
    private final Attributes attributes;
    private final FunctionBuilder builder;

    /**
     * @param functions functions that it may call
     * @param params tensors of the parameters file
     * @param paramsFile name of that file in messages
     * @param shapes shapes that replace the inputs' own
     */
    DefinedFunction(
            Definition definition,
            Functions functions,
            List<NamedTensor> params,
            String paramsFile,
            InputShapes shapes,
            GraphProblems findings) {
        this.definition = definition;
        this.params = params;
        this.paramsFile = paramsFile;
        this.shapes = new OpenShapes(shapes, findings);
        this.functions = functions;
        this.findings = findings;
        this.attributes = new Attributes(definition.name(), definition.place(), definition.attributes(), findings);
        this.builder = new FunctionBuilder(functions, findings);
    }

    /** The function; it satisfies the IR's rules if no problem was found. */
    Function read(String name) {
        int before = findings.found();
        refuseOtherGenerators();
        defineParameters();
        definition.statements().forEach(builder::add);
        List<Result> results = results();
        Bindings bindings = builder.bindings();
        Function function = bindings.remaining(bindings.graph().build(name, results));
        if (functions.areWhole() && findings.found() == before) {
            Legality.violations(function)
                    .forEach(v -> findings.add(bindings.place(v.binding().id()), v.what(), v.expected(), OTHERWISE));
        }
        return function;
    }

    /** TVM's partitioning marks functions for other code generators; Kiln has only the one for C. */
    private void refuseOtherGenerators() {
        if (attributes.has(COMPILER)) {
            findings.add(
                    attributes.place(COMPILER),
                    definition.name() + " is for the code generator " + attributes.text(COMPILER, ANY)
                            + ", which Kiln does not have",
                    "functions without " + COMPILER + ": C is generated for all of them",
                    "Export the model before it is partitioned");
        }
    }

    /** The name given by its attributes. */
    String ownName() {
        return attributes.has(NAME)
                ? attributes.text(NAME, ANY)
                : definition.name().substring(1);
    }

    private void defineParameters() {
        List<Param> atRunTime = new ArrayList<>();
        ParameterNames parameters = new ParameterNames(definition.params(), params, paramsFile, findings);
        boolean hasOwn = !functions.metadata().constants().isEmpty();
        Map<String, NamedTensor> tensors =
                hasOwn && parameters.areForeign() ? Map.of() : parameters.find(definition.name());
        for (Param param : definition.params()) {
            NamedTensor tensor = tensors.get(param.name());
            if (tensor == null) {
                atRunTime.add(param);
            } else {
                builder.define(param.name(), param.place(), constant(param, tensor));
            }
        }
        List<String> names = names("input", atRunTime.stream().map(Param::name).toList());
        List<Optional<Quantization>> quantization = quantization("input", atRunTime.size());
        for (int i = 0; i < atRunTime.size(); i++) {
            Param param = atRunTime.get(i);
            TensorType type = shapes.type(param, names.get(i));
            builder.input(param.name(), param.place(), names.get(i), type, quantization.get(i));
        }
        shapes.refuseOthers(names);
    }

    /** Whether a tensor has the type stated in the text. */
    private static boolean fits(Param param, NamedTensor tensor) {
        return tensor.dtype() == param.type().dtype()
                && tensor.shape().equals(param.type().shape().dims());
    }

    private Optional<Value> constant(Param param, NamedTensor tensor) {
        if (!fits(param, tensor)) {
            findings.add(
                    param.place(),
                    "%" + param.name() + " is " + param.type().text() + ", but in " + paramsFile + " "
                            + tensor.shape() + " of "
                            + tensor.dtype().text(),
                    "the same type in both",
                    EXPORT_AGAIN);
            return Optional.empty();
        }
        TensorType type = new TensorType(new Shape(tensor.shape()), tensor.dtype());
        return Optional.of(Value.plain(new Constant(tensor.name(), type, tensor.data()), type));
    }

    private List<Result> results() {
        GraphBuilder graph = builder.bindings().graph();
        List<Source> sources = sources();
        int count = sources.size();
        List<String> standard = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            standard.add(count == 1 ? "output" : "output" + i);
        }
        List<String> names = names("output", standard);
        List<Optional<Quantization>> quantization = quantization("output", count);
        List<List<String>> labels = labels(count);
        List<Result> results = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < count; i++) {
            Expression expression = sources.get(i).expression();
            Optional<Arg> value = sources.get(i).value().apply(names.get(i));
            if (value.isEmpty()) {
                continue;
            }
            checkType(i, graph.type(value.get()), expression.place());
            boolean computed = graph.isComputed(value.get());
            if (!computed || !seen.add(((Arg.Ref) value.get()).id())) {
                findings.add(
                        expression.place(),
                        computed ? "the result is listed twice" : "the result is an input or a constant",
                        "a value that an operator computes, once",
                        "");
            } else {
                results.add(new Result(((Arg.Ref) value.get()).id(), names.get(i), quantization.get(i), labels.get(i)));
            }
        }
        return results;
    }

    /** The origin of a result, given its name. */
    private record Source(Expression expression, java.util.function.Function<String, Optional<Arg>> value) {}

    private List<Source> sources() {
        List<Source> sources = new ArrayList<>();
        for (Expression expression : definition.results()) {
            if (builder.isTuple(expression)) {
                builder.values(expression, "")
                        .forEach(v -> sources.add(new Source(expression, name -> builder.result(v, expression, name))));
            } else {
                sources.add(new Source(expression, name -> builder.result(expression, name)));
            }
        }
        return sources;
    }

    private void checkType(int index, TensorType type, Place place) {
        List<TensorType> stated = definition.resultTypes();
        boolean isStated = index < stated.size();
        if (!stated.isEmpty()
                && !shapes.areGiven()
                && (!isStated || !stated.get(index).equals(type))) {
            findings.add(
                    place,
                    "the result is " + type.text(),
                    isStated
                            ? stated.get(index).text() + ", as " + definition.name() + " states"
                            : "only " + stated.size() + " results",
                    "");
        }
    }

    private List<String> names(String side, List<String> otherwise) {
        String key = side + "_tensor_names";
        if (!attributes.has(key)) {
            return otherwise;
        }
        List<String> names = attributes.strings(key);
        return fits(key, names.size(), otherwise.size()) ? names : otherwise;
    }

    /** The labels of each result: all are listed one after another, with their numbers. */
    private List<List<String>> labels(int count) {
        List<String> all = attributes.has("output_labels") ? attributes.strings("output_labels") : List.of();
        List<Integer> counts = attributes.has("output_label_counts")
                ? attributes.integers("output_label_counts", 0, all.size())
                : List.of();
        List<List<String>> labels = new ArrayList<>();
        int from = 0;
        for (int number : counts) {
            int end = Math.min(all.size(), from + number);
            labels.add(all.subList(from, end));
            from = end;
        }
        boolean areNone = all.isEmpty() && counts.isEmpty();
        return !areNone && fits("output_label_counts", labels.size(), count)
                ? labels
                : Collections.nCopies(count, List.of());
    }

    /** Scale 0 means not quantized. */
    private List<Optional<Quantization>> quantization(String side, int count) {
        List<Optional<Quantization>> none = Collections.nCopies(count, Optional.empty());
        String scaleKey = side + "_scales";
        String zeroPointKey = side + "_zero_points";
        if (!attributes.has(scaleKey) && !attributes.has(zeroPointKey)) {
            return none;
        }
        if (!attributes.has(scaleKey) || !attributes.has(zeroPointKey)) {
            findings.add(
                    attributes.place(scaleKey),
                    "scales and zero points come together",
                    scaleKey + " and " + zeroPointKey,
                    "");
            return none;
        }
        List<Double> scales = attributes.reals(scaleKey);
        List<Integer> zeroPoints = attributes.integers(zeroPointKey, Integer.MIN_VALUE, Integer.MAX_VALUE);
        if (!fits(scaleKey, scales.size(), count) || !fits(zeroPointKey, zeroPoints.size(), count)) {
            return none;
        }
        List<Optional<Quantization>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float scale = scales.get(i).floatValue();
            if (scale < 0 || Float.isInfinite(scale)) {
                findings.add(attributes.place(scaleKey), "the scale is " + scale, "0 or more, and finite", "");
            }
            all.add(scale == 0 ? Optional.empty() : Optional.of(new Quantization(scale, zeroPoints.get(i))));
        }
        return all;
    }

    private boolean fits(String key, int size, int count) {
        if (size != count) {
            findings.add(attributes.place(key), key + " has " + size + " entries", String.valueOf(count), "");
        }
        return size == count;
    }

    /** Applies the user's shapes to the inputs, and refuses those that stay open; an open batch is 1. */
    private static final class OpenShapes {
        private final InputShapes given;
        private final GraphProblems findings;
        private final Set<String> used = new HashSet<>();

        OpenShapes(InputShapes given, GraphProblems findings) {
            this.given = given;
            this.findings = findings;
        }

        /** Whether any shape replaces one of the text, so that types in the text may be wrong. */
        boolean areGiven() {
            return !given.isEmpty();
        }

        /**
         * The type of an input.
         *
         * @param name the input's name outside the text
         */
        TensorType type(Param param, String name) {
            TensorType own = param.type();
            String key = given.byName().containsKey(name) ? name : param.name();
            Shape shape = given.byName().get(key);
            if (shape == null) {
                if (param.open().stream().anyMatch(dim -> dim > 0)) {
                    findings.add(
                            param.place(),
                            "the input %" + param.name() + " has dimensions that are known only at run time: "
                                    + open(param),
                            "numbers",
                            "Set kiln.inputShapes=" + name + ":" + open(param) + " with a number for each ?");
                }
                return own;
            }
            used.add(key);
            TensorType type = new TensorType(shape, own.dtype());
            if (shape.rank() != own.shape().rank() || type.isLargerThan(TensorType.MAX_BYTES)) {
                findings.add(
                        param.place(),
                        "kiln.inputShapes gives the input %" + param.name() + " the shape " + shape.text(),
                        "rank " + own.shape().rank() + ": " + open(param) + ", and at most " + TensorType.MAX_BYTES
                                + " bytes",
                        "");
                return own;
            }
            return type;
        }

        /** Reports given shapes whose names are not inputs. */
        void refuseOthers(List<String> inputs) {
            given.byName().keySet().stream()
                    .filter(name -> !used.contains(name))
                    .forEach(name -> findings.add(Failure.MODEL.problem(
                            "kiln.inputShapes names `" + name + "`, which is not an input",
                            findings.file(),
                            "some of " + String.join(", ", inputs),
                            "")));
        }

        private static String open(Param param) {
            Shape shape = param.type().shape();
            return IntStream.range(0, shape.rank())
                    .mapToObj(i -> param.open().contains(i) ? "?" : String.valueOf(shape.dim(i)))
                    .collect(Collectors.joining(","));
        }
    }

    /**
     * Finds tensors of a parameters file by their names in the text. TVM's printer (RelayTextPrinter::AllocVar) puts a
     * {@code v} before a name that does not begin with an ASCII letter, and appends a number to a name that was printed
     * before; the file has the original names. Text with the original names is accepted too.
     */
    private static final class ParameterNames {
        private final List<Param> params;
        private final List<NamedTensor> tensors;
        private final String file;
        private final GraphProblems findings;
        private final Set<String> printed;

        /**
         * @param params the parameters declared by the text
         * @param tensors the tensors in the file
         * @param file the file's name in messages
         */
        ParameterNames(List<Param> params, List<NamedTensor> tensors, String file, GraphProblems findings) {
            this.params = params;
            this.tensors = tensors;
            this.file = file;
            this.findings = findings;
            this.printed = params.stream().map(Param::name).collect(Collectors.toSet());
        }

        /** Whether no tensor is one of the text's parameters: they belong to something else that lies beside the text, such as a graph. */
        boolean areForeign() {
            return tensors.stream().noneMatch(t -> params.stream().anyMatch(p -> isPrinted(t.name(), p.name())));
        }

        /** The tensors by their names in the text; a tensor without a parameter, or with several, is reported. */
        Map<String, NamedTensor> find(String function) {
            Map<String, NamedTensor> found = new HashMap<>();
            Map<String, List<NamedTensor>> claims = new LinkedHashMap<>();
            for (NamedTensor tensor : tensors) {
                Optional<Param> param = param(tensor, function);
                param.ifPresent(p -> claims.computeIfAbsent(p.name(), name -> new ArrayList<>())
                        .add(tensor));
            }
            claims.forEach((name, all) -> {
                found.put(name, all.get(0));
                if (all.size() > 1) {
                    ambiguous("the names "
                            + all.stream().map(t -> "`" + t.name() + "`").collect(Collectors.joining(" and "))
                            + " are all printed as %" + name);
                }
            });
            return found;
        }

        private Optional<Param> param(NamedTensor tensor, String function) {
            List<Param> candidates = params.stream()
                    .filter(p -> isPrinted(tensor.name(), p.name()))
                    .toList();
            if (candidates.size() > 1) {
                List<Param> fitting = candidates.stream()
                        .filter(p -> DefinedFunction.fits(p, tensor))
                        .toList();
                candidates = fitting.isEmpty() ? candidates.subList(0, 1) : fitting;
            }
            if (candidates.isEmpty()) {
                findings.add(Failure.MODEL.problem(
                        function + " has no parameter %" + tensor.name(),
                        file,
                        "only tensors that it names",
                        DefinedFunction.EXPORT_AGAIN));
            } else if (candidates.size() > 1) {
                ambiguous("`" + tensor.name() + "` may be any of "
                        + candidates.stream().map(p -> "%" + p.name()).collect(Collectors.joining(", ")));
            }
            return candidates.stream().findFirst();
        }

        private void ambiguous(String what) {
            findings.add(Failure.MODEL.problem(
                    what,
                    file,
                    "names that differ in the text",
                    "Rename the parameters in the model, or print it with its constants in the metadata section"));
        }

        /** Whether a name of the file can be printed as this one in the text. */
        private boolean isPrinted(String name, String inText) {
            String alone = printed(name);
            if (printed.contains(name) && !name.equals(alone)) {
                // TVM's printer never writes such a name: another program wrote the text, with the names of the file.
                return inText.equals(name);
            }
            return inText.equals(alone) || isAgain(name, alone, inText);
        }

        /** Whether a name was printed a second time; two names collide in the text only if one of them got a {@code v}. */
        private boolean isAgain(String name, String alone, String inText) {
            boolean shared = !name.equals(alone) || (alone.startsWith("v") && !beginsWithLetter(alone.substring(1)));
            boolean isNumbered = inText.length() > alone.length()
                    && inText.startsWith(alone)
                    && inText.substring(alone.length()).chars().allMatch(c -> c >= '0' && c <= '9');
            return shared
                    && isNumbered
                    && printed.contains(alone)
                    && tensors.stream()
                            .noneMatch(other -> other.name().equals(inText)
                                    || printed(other.name()).equals(inText));
        }

        private static String printed(String name) {
            return beginsWithLetter(name) ? name : "v" + name;
        }

        private static boolean beginsWithLetter(String name) {
            return !name.isEmpty() && ((name.charAt(0) | 0x20) >= 'a' && (name.charAt(0) | 0x20) <= 'z');
        }
    }
}
