// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.artifact.NamedTensor;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.call.ControlFlow.FunctionRef;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.text.MetadataReader.MetadataSection;
import io.kiln.ir.text.TextConstants.RelayNames;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;

/**
 * Prints a function and the functions that it calls as Relay text 0.0.5: one line for each operator call, {@code %0},
 * {@code %1} … in execution order.
 *
 * <p>TVM's parser accepts the text, provided that operators named {@code tfl.*} are registered ({@code kiln_relay.py}): an operator has TVM's
 * name if TVM's operator computes the same ({@link io.kiln.ir.op.Spelling}). Scalars are inline, other constants are {@code
 * meta[relay.Constant][n]} in order of appearance. Information without a place in Relay is in function attributes
 * (names and quantization of inputs and outputs) and comments (types, origins, constants' names, fused groups). Floats
 * are printed in the shortest form that parses to the same value. Called functions follow {@code @main}, each once for
 * every caller, named after themselves; those never called are omitted.
 */
public final class RelayPrinter {
    private static final String MAIN = "@main";
    private static final String VERSION = "#[version = \"0.0.5\"]\n";

    private static final String FOREIGN = """
        /* Operators named tfl.* compute as TensorFlow Lite's kernels do and TVM's do not. TVM reads the text after `import kiln_relay`,
           a file that lies beside it in an archive: it registers operators of these names, and the attributes of scatter_nd. */
        """;

    private final TextConstants constants;
    private final RelayNames globals = new RelayNames();
    private final StringBuilder out = new StringBuilder();

    private RelayPrinter(boolean asParameters) {
        this.constants = new TextConstants(asParameters);
    }

    /** The text without version line and constants' data, for people. */
    public static String print(Function function) {
        RelayPrinter printer = new RelayPrinter(false);
        printer.printModule(function);
        if (!printer.constants.metadata().isEmpty()) {
            printer.out
                    .append("\n/* The data of the ")
                    .append(printer.constants.metadata().size())
                    .append(" constants meta[relay.Constant] is left out. */\n");
        }
        return printer.out.toString();
    }

    /** The complete text: version line, functions, and a metadata section with the constants' data. */
    public static String astext(Function function) {
        return new RelayPrinter(false).whole(function);
    }

    /**
     * Text and its parameters.
     *
     * @param text complete except for the data of {@code @main}'s constants, which are parameters
     * @param parameters their data, by name
     */
    public record Module(String text, List<NamedTensor> parameters) {
        public Module {
            parameters = List.copyOf(parameters);
        }
    }

    /** The text for an archive: its constants are in a parameters file, as for TVM's frontends. */
    public static Module withParameters(Function function) {
        RelayPrinter printer = new RelayPrinter(true);
        String text = printer.whole(function);
        return new Module(text, printer.constants.parameters());
    }

    private String whole(Function function) {
        printModule(function);
        if (!constants.metadata().isEmpty()) {
            out.append("\n#[metadata]\n").append(MetadataSection.of(constants.metadata()));
        }
        return VERSION + (constants.hasForeign() ? FOREIGN : "") + out;
    }

    /** A function still to be printed. */
    private record Waiting(String name, Function function) {}

    private void printModule(Function main) {
        Deque<Waiting> waiting = new ArrayDeque<>();
        waiting.add(new Waiting("@" + globals.of(MAIN.substring(1)), main));
        while (!waiting.isEmpty()) {
            Waiting next = waiting.remove();
            out.append(next.name().equals(MAIN) ? "" : "\n");
            FunctionText text =
                    new FunctionText(next.function(), constants, next.name().equals(MAIN), called -> {
                        String name = "@" + globals.of(called.name());
                        waiting.add(new Waiting(name, called));
                        return name;
                    });
            out.append(text.print(next.name()));
        }
    }

    /** Prints one function of a module. */
    private static final class FunctionText {
        private final Function function;
        private final TextConstants constants;
        private final boolean isMain;
        private final Map<Integer, TensorType> types;
        private final ProductText products = new ProductText(this::read);
        private final java.util.function.Function<Function, String> globals;
        private final Map<Integer, String> names = new HashMap<>();
        private final Map<Integer, String> called = new HashMap<>();
        private final Set<Integer> variables = new HashSet<>();
        private final StringBuilder out = new StringBuilder();

        /**
         * @param constants the module's constants so far; the function's are added
         * @param isMain whether constants can be parameters
         * @param globals returns the name of a called function, with its mark
         */
        FunctionText(
                Function function,
                TextConstants constants,
                boolean isMain,
                java.util.function.Function<Function, String> globals) {
            this.function = function;
            this.constants = constants;
            this.isMain = isMain;
            this.types = function.types();
            this.globals = globals;
        }

        /**
         * The function's text.
         *
         * @param global its name, with its mark
         */
        String print(String global) {
            List<String> header = new ArrayList<>();
            RelayNames unique = new RelayNames();
            for (Parameter parameter : function.params()) {
                String name = "%" + unique.of(parameter.name());
                names.put(parameter.id(), name);
                header.add(name + ": " + type(parameter.type()));
            }
            constants.reserve(unique);
            body(unique);
            if (isMain) {
                constants
                        .parameters()
                        .forEach(tensor -> header.add("%" + tensor.name() + ": "
                                + type(new TensorType(new Shape(tensor.shape()), tensor.dtype()))));
            }
            header.addAll(attributes());
            return "def " + global + "(" + String.join(", ", header) + ") -> " + resultType() + " {\n" + out;
        }

        private void body(RelayNames unique) {
            Map<Integer, Group> groups = new HashMap<>();
            function.groups().forEach(group -> groups.put(group.bindings().get(0), group));
            function.bindings().forEach(binding -> names.put(binding.id(), "%" + constants.number()));
            for (Variable variable : function.variables()) {
                variables.add(variable.id());
                names.put(variable.id(), "%" + unique.of(variable.name()));
                out.append("  let ")
                        .append(names.get(variable.id()))
                        .append(" = ref(")
                        .append(arg(new Constant(variable.name(), variable.type(), variable.initial())))
                        .append(");\n");
            }
            for (Binding binding : function.bindings()) {
                Optional.ofNullable(groups.get(binding.id())).ifPresent(this::printGroup);
                printBinding(binding);
            }
            out.append("  ")
                    .append(tuple(
                            function.results().stream().map(r -> read(r.id())).toList()))
                    .append("\n}\n");
        }

        /** {@code output_tensor_names} is microTVM's; the others are Kiln's. */
        private List<String> attributes() {
            List<String> attributes = new ArrayList<>();
            attributes.add("mod_name=" + Literals.quoted(function.name()));
            attributes.add("input_tensor_names="
                    + strings(function.params().stream().map(Parameter::name).toList()));
            attributes.add("output_tensor_names="
                    + strings(function.results().stream().map(Result::name).toList()));
            addQuantization(
                    attributes,
                    "input",
                    function.params().stream().map(Parameter::quantization).toList());
            addQuantization(
                    attributes,
                    "output",
                    function.results().stream().map(Result::quantization).toList());
            addLabels(attributes);
            return attributes;
        }

        /** The labels of all results one after another, and how many each has. */
        private void addLabels(List<String> attributes) {
            List<String> labels = function.results().stream()
                    .flatMap(r -> r.labels().stream())
                    .toList();
            if (!labels.isEmpty()) {
                attributes.add("output_labels=" + strings(labels));
                attributes.add("output_label_counts="
                        + function.results().stream()
                                .map(r -> String.valueOf(r.labels().size()))
                                .collect(Collectors.joining(", ", "[", "]")));
            }
        }

        /** Scale 0 means not quantized. */
        private static void addQuantization(List<String> attributes, String side, List<Optional<Quantization>> all) {
            if (all.stream().allMatch(Optional::isEmpty)) {
                return;
            }
            attributes.add(side + "_scales="
                    + all.stream()
                            .map(q -> Literals.of(q.map(Quantization::scale).orElse(0f)))
                            .collect(Collectors.joining(", ", "[", "]")));
            attributes.add(side + "_zero_points="
                    + all.stream()
                            .map(q -> String.valueOf(
                                    q.map(Quantization::zeroPoint).orElse(0)))
                            .collect(Collectors.joining(", ", "[", "]")));
        }

        private void printGroup(Group group) {
            out.append("  // ")
                    .append(Literals.inComment(group.name()))
                    .append(": ")
                    .append(group.bindings().stream().map(names::get).collect(Collectors.joining(" ")))
                    .append('\n');
        }

        private void printBinding(Binding binding) {
            List<TensorType> argTypes =
                    binding.args().stream().map(arg -> arg.type(types)).toList();
            Spelling spelling = binding.op().spelling(argTypes).resulting(binding.type());
            boolean isWidened = spelling.form() == Spelling.Form.WORDS;
            TensorType type = isWidened ? new TensorType(binding.type().shape(), DType.INT32) : binding.type();
            String call = products.of(binding, argTypes.isEmpty() ? binding.type() : argTypes.get(0))
                            .orElseGet(() -> call(binding, spelling))
                    + " /* ty=" + type(type) + " span="
                    + span(binding) + " */";
            out.append("  ")
                    .append(names.get(binding.id()))
                    .append(" = ")
                    .append(
                            isWidened
                                    ? "cast(" + call + ", dtype=\""
                                            + binding.type().dtype().text() + "\")"
                                    : call)
                    .append(";\n");
        }

        private String call(Binding binding, Spelling spelling) {
            boolean isWidened = spelling.form() == Spelling.Form.WORDS;
            // TVM has the operator scatter_nd, and its parser needs help with it.
            constants.noteForeign(spelling.isForeign() || spelling.name().equals("scatter_nd"));
            List<String> args = new ArrayList<>();
            for (Arg arg : binding.args()) {
                boolean isVariable = spelling.isForeign() || (binding.op() instanceof RefWrite && args.isEmpty());
                String text = isVariable ? arg(arg) : read(arg);
                args.add(isWidened ? "cast(" + text + ", dtype=\"int32\")" : text);
            }
            List<String> all = new ArrayList<>(
                    spelling.form() == Spelling.Form.TUPLE
                            ? List.of("(" + String.join(", ", args) + (args.size() == 1 ? ",)" : ")"))
                            : args);
            spelling.attributes()
                    .forEach((name, value) -> all.add(name + "="
                            + (value instanceof FunctionRef ref ? global(ref) : Literals.ofAttribute(value))));
            return spelling.name() + "(" + String.join(", ", all) + ")";
        }

        private static String span(Binding binding) {
            return Literals.inComment(Literals.quoted(binding.origin().file())) + ":"
                    + binding.origin().operatorIndex() + ":"
                    + Literals.inComment(binding.origin().operator()) + ":"
                    + Literals.inComment(Literals.quoted(binding.origin().tensor()));
        }

        private String global(FunctionRef ref) {
            return called.computeIfAbsent(
                    ref.index(), index -> globals.apply(function.functions().get(index)));
        }

        /** A value that TVM's operators take: they do not take variables. */
        private String read(Arg arg) {
            return arg instanceof Arg.Ref ref ? read(ref.id()) : arg(arg);
        }

        private String read(int id) {
            return variables.contains(id) ? "ref_read(" + names.get(id) + ")" : names.get(id);
        }

        private String arg(Arg arg) {
            if (arg instanceof Arg.Ref ref) {
                return names.get(ref.id());
            }
            Constant constant = (Constant) arg;
            Optional<String> literal = Literals.inline(constant);
            if (literal.isPresent()) {
                return literal.get() + (constant.name().isEmpty() ? "" : " /* " + name(constant) + " */");
            }
            String comment = " /* ty=" + type(constant.type()) + " " + name(constant) + " */";
            return constants.refer(constant, isMain) + comment;
        }

        private static String name(Constant constant) {
            return "name=" + Literals.inComment(Literals.quoted(constant.name()));
        }

        private String resultType() {
            return tuple(function.results().stream()
                    .map(r -> type(types.get(r.id())))
                    .toList());
        }

        private static String tuple(List<String> items) {
            return items.size() == 1 ? items.get(0) : "(" + String.join(", ", items) + ")";
        }

        private static String strings(List<String> items) {
            return items.stream().map(Literals::quoted).collect(Collectors.joining(", ", "[", "]"));
        }

        private static String type(TensorType type) {
            String dims = type.shape().dims().stream().map(String::valueOf).collect(Collectors.joining(", "));
            return type.shape().rank() == 0
                    ? type.dtype().text()
                    : "Tensor[(" + dims + "), " + type.dtype().text() + "]";
        }
    }

    /**
     * Products with fixed-point numbers in TVM's form: {@code fixed_point_multiply} and {@code
     * fixed_point_multiply_per_axis}, and the canonical form of {@code qnn.requantize} that uses them. There are no such
     * operators for roundings other than upward.
     */
    private static final class ProductText {
        private static final int FRACTION_BITS = 31;

        /** Left shifts that bytes and 16-bit values allow without exceeding 32 bits. */
        private static final int SPARE_BITS = 12;

        private final java.util.function.Function<Arg, String> text;

        /**
         * @param text returns the text of an argument
         */
        ProductText(java.util.function.Function<Arg, String> text) {
            this.text = text;
        }

        /** The call; empty if TVM has none. */
        Optional<String> of(Binding binding, TensorType data) {
            if (binding.op().equals(new FixedPointMultiply(Rounding.UPWARD))) {
                return product(binding, data);
            }
            boolean isRescaling = binding.op() instanceof TflRequantize op
                    && op.rounding() == Rounding.UPWARD
                    && op.axis() == -1
                    && binding.args().get(0) instanceof Arg.Ref;
            return isRescaling && bears(binding, data) ? Optional.of(rescaling(binding, data)) : Optional.empty();
        }

        private Optional<String> product(Binding binding, TensorType data) {
            if (!(binding.args().get(1) instanceof Constant multiplier)
                    || !(binding.args().get(FixedPointMultiply.SHIFT) instanceof Constant shift)
                    || !areAlike(multiplier, shift)) {
                return Optional.empty();
            }
            Shape own = multiplier.type().shape();
            boolean isScalar = own.rank() == 0;
            int axis = isScalar ? 0 : own.rank() == 1 ? data.shape().rank() - 1 : axis(own);
            boolean fits = isScalar
                    || (axis >= 0
                            && (own.rank() == 1 || own.rank() == data.shape().rank())
                            && data.shape().dim(axis) == own.elements());
            return fits
                    ? Optional.of(product(text.apply(binding.args().get(0)), multiplier, left(shift), axis))
                    : Optional.empty();
        }

        /**
         * The only dimension with more than one element, unless it is the last, which a vector represents; otherwise -1.
         */
        private static int axis(Shape shape) {
            for (int i = 0; i < shape.rank() - 1; i++) {
                if (shape.dim(i) == shape.elements() && shape.elements() > 1) {
                    return i;
                }
            }
            return -1;
        }

        private static Constant left(Constant shift) {
            return vector(
                    shift.elements(), shift.type().shape().rank() == 0, i -> FRACTION_BITS - (int) shift.integer(i));
        }

        private String product(String data, Constant multiplier, Constant left, int axis) {
            if (left.type().shape().rank() == 0) {
                return "fixed_point_multiply(" + data + ", multiplier=" + multiplier.integer(0) + ", shift="
                        + left.integer(0) + ")";
            }
            int size = left.elements();
            boolean shiftsLeft = false;
            for (int i = 0; i < size; i++) {
                shiftsLeft |= left.integer(i) > 0;
            }
            return "fixed_point_multiply_per_axis(" + data + ", "
                    + text.apply(vector(size, false, i -> (int) multiplier.integer(i))) + ", "
                    + text.apply(vector(size, false, i -> (int) Math.max(left.integer(i), 0))) + ", "
                    + text.apply(vector(size, false, i -> (int) Math.max(-left.integer(i), 0)))
                    + (shiftsLeft ? ", is_lshift_required=True" : "") + ", is_rshift_required=True, axes=[" + axis
                    + "])";
        }

        /** Whether the canonical form, in which the product wraps around, always equals the operator, which saturates. */
        private static boolean bears(Binding binding, TensorType data) {
            Constant multiplier = binding.constant(1);
            Constant left = binding.constant(2);
            boolean isVector = multiplier.type().shape().rank() == 0 || multiplier.elements() > 1;
            int most = data.dtype().bytes() < Integer.BYTES ? SPARE_BITS : 0;
            boolean bears =
                    areAlike(multiplier, left) && isVector && data.shape().rank() > 0;
            for (int i = 0; i < left.elements(); i++) {
                bears &= left.integer(i) <= most;
            }
            for (int i = 0; i < multiplier.elements(); i++) {
                bears &= multiplier.integer(i) >= 0;
            }
            return bears;
        }

        private String rescaling(Binding binding, TensorType data) {
            TflRequantize op = (TflRequantize) binding.op();
            String value = text.apply(binding.args().get(0));
            String words = data.dtype() == DType.INT32 ? value : "cast(" + value + ", dtype=\"int32\")";
            String centred = op.inputZeroPoint() == 0 ? words : "subtract(" + words + ", " + op.inputZeroPoint() + ")";
            String scaled = product(
                    centred,
                    binding.constant(1),
                    binding.constant(2),
                    data.shape().rank() - 1);
            String sum = op.outputZeroPoint() == 0 ? scaled : "add(" + op.outputZeroPoint() + ", " + scaled + ")";
            return "cast(clip(" + sum + ", a_min=" + op.outDtype().min() + "f, a_max="
                    + op.outDtype().max() + "f), dtype=\"" + op.outDtype().text() + "\")";
        }

        /** Whether constants have one shape and no names, which the text would lose. */
        private static boolean areAlike(Constant a, Constant b) {
            return a.type().equals(b.type()) && a.name().isEmpty() && b.name().isEmpty();
        }

        private static Constant vector(int size, boolean isScalar, IntUnaryOperator elements) {
            TensorType type = new TensorType(isScalar ? Shape.scalar() : Shape.of(size), DType.INT32);
            return Constant.integers("", type, elements::applyAsInt);
        }
    }
}
