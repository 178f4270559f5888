// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Values that the user gives to a model's inputs, which become constants before shapes are inferred.
 *
 * @param byName values by the inputs' names, in the order given
 * @param previous inputs that become state, each with the output that it gets for the next run; {@code *} stands for any characters
 */
public record InputValues(Map<String, Value> byName, Map<String, String> previous) {
    /** All inputs stay inputs. */
    public static final InputValues NONE = new InputValues(Map.of(), Map.of());

    private static final String EXPECTED =
            "name=16000 or name=[1, 2, 3], several separated by semicolons: numbers, true, false, lists of them in"
                    + " JSON, or previous(output)";

    private static final Pattern PREVIOUS = Pattern.compile("previous\\(\\s*(.+?)\\s*\\)");

    /** Names may contain semicolons; a value ends at a semicolon or at the end. */
    private static final Pattern ENTRY = Pattern.compile("\\s*([^=]+?)\\s*=([^;=]*)(?:;|$)");

    private static final int MAX_LENGTH = 100_000;
    private static final int MAX_RANK = 8;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    public InputValues {
        byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
        previous = Collections.unmodifiableMap(new LinkedHashMap<>(previous));
    }

    /**
     * The value of one input.
     *
     * @param dims sizes of its lists, the outermost first; empty for one number
     * @param numbers its numbers, row by row; 1 for {@code true}, 0 for {@code false}
     */
    public record Value(List<Integer> dims, List<BigDecimal> numbers) {
        public Value {
            dims = List.copyOf(dims);
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * Parses {@code sr=16000;sizes=[1, 2];past=previous(present)}.
     *
     * @param text the text; blank for none
     * @throws io.kiln.base.KilnException with all errors in it
     */
    public static InputValues parse(String text) {
        Problems problems = new Problems(Failure.CONFIG);
        Map<String, Value> values = new LinkedHashMap<>();
        Map<String, String> previous = new LinkedHashMap<>();
        InputShapes.entries("kiln.inputValues", text, MAX_LENGTH, ENTRY, EXPECTED, problems, (name, given) -> {
            Matcher state = PREVIOUS.matcher(given.strip());
            if (values.containsKey(name) || previous.containsKey(name)) {
                problems.add("kiln.inputValues gives `" + name + "` two values", "", "one", "");
                return;
            }
            if (state.matches()) {
                previous.put(name, state.group(1));
                return;
            }
            Optional<Value> value = value(given);
            if (value.isEmpty()) {
                problems.add(
                        "kiln.inputValues gives `" + name + "` the value '" + given.strip() + "'", "", EXPECTED, "");
            } else {
                values.put(name, value.get());
            }
        });
        problems.throwIfAny();
        return new InputValues(values, previous);
    }

    /** A number or lists of numbers of one length at each depth; empty if the text is neither. */
    private static Optional<Value> value(String text) {
        JsonNode json;
        try {
            json = JSON.readTree(text.strip());
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>();
        for (JsonNode first = json; first.isArray() && dims.size() <= MAX_RANK; first = first.path(0)) {
            dims.add(first.size());
        }
        List<BigDecimal> numbers = new ArrayList<>();
        return dims.size() <= MAX_RANK && collect(json, dims, numbers)
                ? Optional.of(new Value(dims, numbers))
                : Optional.empty();
    }

    private static boolean collect(JsonNode json, List<Integer> dims, List<BigDecimal> numbers) {
        if (!dims.isEmpty()) {
            List<Integer> inner = dims.subList(1, dims.size());
            boolean isList = json.isArray() && json.size() == dims.get(0);
            for (int i = 0; isList && i < json.size(); i++) {
                isList = collect(json.get(i), inner, numbers);
            }
            return isList;
        }
        if (json.isNumber()) {
            numbers.add(json.decimalValue());
        } else if (json.isBoolean()) {
            numbers.add(json.booleanValue() ? BigDecimal.ONE : BigDecimal.ZERO);
        }
        return json.isNumber() || json.isBoolean();
    }

    /** The model whose inputs that become state are its own. */
    public Function withState(Function model, String file) {
        return RingStates.of(BoundStates.bind(model, previous, file));
    }

    /** Whether all inputs stay inputs. */
    public boolean isEmpty() {
        return byName.isEmpty() && previous.isEmpty();
    }

    /**
     * Makes pairs of an input and an output the model's own state, as {@code past=previous(present)} of {@code kiln.inputValues} asks: the input
     * becomes a variable that begins with zeros (of integers the zero point), and each run ends by giving it the output. An output that is longer
     * along one axis, such as keys with those of the current step behind them, gives its last elements, so that the oldest are forgotten.
     */
    static final class BoundStates {
        private final String file;
        private final Problems problems = new Problems(Failure.CONFIG);
        private final Function function;
        private final Map<Integer, TensorType> types;
        private final List<Variable> variables;
        private final List<Binding> copies = new ArrayList<>();
        private final List<Binding> writes = new ArrayList<>();
        private final Map<Integer, Integer> copied = new HashMap<>();
        private int nextId;

        private BoundStates(Function function, String file) {
            this.function = function;
            this.file = file;
            this.types = function.types();
            this.variables = new ArrayList<>(function.variables());
            this.nextId = types.keySet().stream().mapToInt(id -> id).max().orElse(-1) + 1;
        }

        /**
         * The model with its state.
         *
         * @param previous outputs by the inputs that get them in the next run; a {@code *} in both stands for the same characters
         * @throws io.kiln.base.KilnException naming every pair that does not exist or does not fit
         */
        static Function bind(Function function, Map<String, String> previous, String file) {
            return previous.isEmpty() ? function : new BoundStates(function, file).bound(previous);
        }

        private Function bound(Map<String, String> previous) {
            Map<Parameter, Result> pairs = new LinkedHashMap<>();
            previous.forEach((input, output) -> pair(input, output, pairs));
            if (pairs.values().stream().distinct().count() < pairs.size()) {
                problem("gives one output to two inputs", "an output for each");
            }
            problems.throwIfAny();
            pairs.forEach(this::bind);
            List<Result> results = function.results().stream()
                    .filter(result -> !pairs.containsValue(result))
                    .map(result -> pairs.keySet().stream().anyMatch(input -> input.id() == result.id())
                            ? result.of(copied.computeIfAbsent(result.id(), this::copy))
                            : result)
                    .toList();
            if (results.isEmpty()) {
                problem("makes all outputs state", "one output that remains");
            }
            problems.throwIfAny();
            List<Binding> bindings = new ArrayList<>(function.bindings());
            bindings.addAll(copies);
            bindings.addAll(writes);
            return new Function(
                            function.name(),
                            function.params().stream()
                                    .filter(input -> !pairs.containsKey(input))
                                    .toList(),
                            bindings,
                            results,
                            function.groups(),
                            variables,
                            function.functions())
                    .withIdsInOrder();
        }

        private void pair(String input, String output, Map<Parameter, Result> pairs) {
            boolean isFound = false;
            for (Parameter parameter : function.params()) {
                Optional<String> wanted = matched(input, parameter.name()).map(part -> output.replace("*", part));
                if (wanted.isEmpty()) {
                    continue;
                }
                isFound = true;
                function.results().stream()
                        .filter(result -> result.name().equals(wanted.get()))
                        .findFirst()
                        .ifPresentOrElse(
                                result -> pairs.put(parameter, result),
                                () -> problem(
                                        "names the output `" + wanted.get() + "`",
                                        "one of "
                                                + function.results().stream()
                                                        .map(Result::name)
                                                        .toList()));
            }
            if (!isFound) {
                problem(
                        "names the input `" + input + "`",
                        "one of "
                                + function.params().stream()
                                        .map(Parameter::name)
                                        .toList());
            }
        }

        /** What the star of a pattern stands for in a name; an empty text if it has none, and nothing if the name is another. */
        private static Optional<String> matched(String pattern, String name) {
            int star = pattern.indexOf('*');
            if (star < 0) {
                return pattern.equals(name) ? Optional.of("") : Optional.empty();
            }
            String end = pattern.substring(star + 1);
            boolean fits = name.length() >= pattern.length() - 1
                    && name.startsWith(pattern.substring(0, star))
                    && name.endsWith(end);
            return fits ? Optional.of(name.substring(star, name.length() - end.length())) : Optional.empty();
        }

        private void bind(Parameter input, Result output) {
            TensorType from = types.get(output.id());
            String what = "gives `" + input.name() + "` " + input.type().text() + " the output `" + output.name() + "` "
                    + from.text();
            Optional<Op> last = last(from, input.type());
            if (from.dtype() != input.type().dtype() || (last.isEmpty() && !from.equals(input.type()))) {
                problem(what, "an output of the same type and shape, or one that is longer along one axis");
                return;
            }
            if (!input.quantization().equals(output.quantization())) {
                problem(what + ", which has another scale or zero point", "an output of the same scale");
                return;
            }
            variables.add(new Variable(input.id(), input.name(), input.type(), initial(input)));
            Arg.Ref value = new Arg.Ref(output.id());
            Origin origin = new Origin(file, function.bindings().size(), "previous", output.name());
            if (last.isPresent()) {
                copies.add(new Binding(nextId, last.get(), List.of(value), input.type(), origin));
                value = new Arg.Ref(nextId++);
            } else if (sharesMemory(output.id())) {
                value = new Arg.Ref(copied.computeIfAbsent(output.id(), this::copy));
            }
            Op write = new RefWrite();
            List<Arg> args = List.of(new Arg.Ref(input.id()), value);
            writes.add(new Binding(nextId++, write, args, write.infer(List.of(input.type(), input.type())), origin));
        }

        /** Whether a value lies in memory that a state's may be, seen under any dimensions: that of anything that is not computed. */
        private boolean sharesMemory(int id) {
            Map<Integer, Binding> byId = function.bindingsById();
            Optional<Binding> producer = Optional.ofNullable(byId.get(id));
            while (producer.filter(binding -> binding.op() instanceof Reshape).isPresent()) {
                producer = producer.filter(binding -> binding.args().get(0) instanceof Arg.Ref)
                        .flatMap(binding -> Optional.ofNullable(byId.get(binding.ref(0))));
            }
            return producer.isEmpty();
        }

        /** A copy of a value, made before state changes. */
        private int copy(int id) {
            copies.add(new Binding(
                    nextId,
                    new Copy(),
                    List.of(new Arg.Ref(id)),
                    types.get(id),
                    new Origin(file, function.bindings().size(), "previous", "copy")));
            return nextId++;
        }

        /** The last elements along the only axis along which one shape is longer than another. */
        private static Optional<Op> last(TensorType from, TensorType to) {
            Shape longer = from.shape();
            Shape shorter = to.shape();
            if (longer.rank() != shorter.rank()) {
                return Optional.empty();
            }
            List<Integer> axes = IntStream.range(0, longer.rank())
                    .filter(axis -> longer.dim(axis) != shorter.dim(axis))
                    .boxed()
                    .toList();
            if (axes.size() != 1 || longer.dim(axes.get(0)) < shorter.dim(axes.get(0))) {
                return Optional.empty();
            }
            int axis = axes.get(0);
            return Optional.of(
                    StridedSlice.along(longer, axis, longer.dim(axis) - shorter.dim(axis), longer.dim(axis), 1));
        }

        private Bytes initial(Parameter input) {
            byte[] data = new byte[(int) input.type().bytes()];
            int zero = input.quantization().map(Quantization::zeroPoint).orElse(0);
            if (input.type().dtype().bytes() == 1) {
                Arrays.fill(data, (byte) zero);
            } else if (zero != 0) {
                problem(
                        "makes `" + input.name() + "` a state, whose zero point is " + zero,
                        "0 for " + input.type().dtype().text());
            }
            return Bytes.wrap(data);
        }

        private void problem(String what, String expected) {
            problems.add("kiln.inputValues " + what, file, expected, "Correct kiln.inputValues");
        }
    }
}
