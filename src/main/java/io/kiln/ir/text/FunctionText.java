// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

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
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.call.FunctionRef;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Prints one function of a module. */
final class FunctionText {
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
                .append(tuple(function.results().stream().map(r -> read(r.id())).toList()))
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
        List<String> labels =
                function.results().stream().flatMap(r -> r.labels().stream()).toList();
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
                        .map(q -> String.valueOf(q.map(Quantization::zeroPoint).orElse(0)))
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
                .forEach((name, value) -> all.add(
                        name + "=" + (value instanceof FunctionRef ref ? global(ref) : Literals.ofAttribute(value))));
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
        return tuple(
                function.results().stream().map(r -> type(types.get(r.id()))).toList());
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
