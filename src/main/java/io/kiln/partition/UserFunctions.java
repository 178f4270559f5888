// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.CNames;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** C functions of the user that compute chains of operators: a code generator without Java. */
public final class UserFunctions implements ExternalCodegen {
    /** Name of the code generator in targets. */
    public static final String NAME = "user";

    private static final Pattern C_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,199}");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9_./+-]{0,200}");
    private static final Pattern OPERATOR = Pattern.compile("[a-z0-9_]+(\\.[a-z0-9_]+)*\\??");
    private static final String OPTIONAL = "?";
    private static final String WHERE = "<externals>";

    /** Prefix of operators that TensorFlow Lite computes differently from TVM. */
    private static final String OWN = "tfl.";

    private final List<External> externals;

    /**
     * A function, {@code int32_t f(const T* input…, const T* constant…, T* output)}, which returns 0, or anything else for an error.
     *
     * @param name of the pattern, a C name
     * @param operators Kiln's names of the operators in order, such as {@code qnn.add}; a {@code ?} behind those that may be missing
     * @param function name of the C function
     * @param header file below src/main/c that declares it; empty for none
     * @param constants whether it gets the operators' constants, too, all in order
     */
    public record External(String name, List<String> operators, String function, String header, boolean constants) {
        public External {
            operators = List.copyOf(operators);
        }
    }

    private UserFunctions(List<External> externals) {
        this.externals = List.copyOf(externals);
    }

    /**
     * A code generator of these functions.
     *
     * @param known names of all operators
     * @throws KilnException with all of their errors
     */
    public static UserFunctions of(List<External> externals, Collection<String> known) {
        Problems problems = new Problems(Failure.EXTENSION);
        Set<String> names = new HashSet<>();
        for (External external : externals) {
            if (!C_NAME.matcher(external.name).matches() || !names.add(external.name)) {
                problems.add("an external is named `" + external.name + "`", WHERE, "a C name, each once", "");
            }
            if (!isFunction(external.function)) {
                problems.add(
                        "the function of `" + external.name + "` is `" + external.function + "`",
                        WHERE,
                        "a C name that is neither a keyword nor main, and begins with neither tvmgen_ nor kiln_",
                        "");
            }
            if (!HEADER.matcher(external.header).matches()) {
                problems.add(
                        "the header of `" + external.name + "` is `" + external.header + "`",
                        WHERE,
                        "a path below src/main/c",
                        "");
            }
            checkOperators(external, known, problems);
        }
        problems.throwIfAny();
        return new UserFunctions(externals);
    }

    private static boolean isFunction(String name) {
        return C_NAME.matcher(name).matches()
                && !CNames.isKeyword(name)
                && !name.equals("main")
                && !name.startsWith("tvmgen_")
                && !name.startsWith("kiln_");
    }

    private static void checkOperators(External external, Collection<String> known, Problems problems) {
        List<String> operators = external.operators;
        boolean isChain = !operators.isEmpty()
                && operators.stream()
                        .allMatch(operator -> OPERATOR.matcher(operator).matches())
                && !operators.get(0).endsWith(OPTIONAL);
        if (!isChain) {
            problems.add(
                    "the operators of `" + external.name + "` are `" + String.join(" ", operators) + "`",
                    WHERE,
                    "names such as qnn.add, a ? behind those that may be missing, but not behind the first",
                    "");
            return;
        }
        operators.stream().map(UserFunctions::bare).forEach(operator -> {
            if (!known.contains(operator)
                    && !(operator.startsWith(OWN) && known.contains(operator.substring(OWN.length())))) {
                problems.add(
                        "there is no operator `" + operator + "`, which `" + external.name + "` takes",
                        WHERE,
                        "the names that -Dkiln.dumpIr shows",
                        NearMiss.didYouMean(operator, known));
            }
        });
    }

    /** The operator's name without the mark that it may be missing. */
    private static String bare(String operator) {
        return operator.endsWith(OPTIONAL) ? operator.substring(0, operator.length() - 1) : operator;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean runsOnCore() {
        return true;
    }

    @Override
    public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
        return externals.stream()
                .map(each -> new CompositePattern(
                        NAME + "." + each.name,
                        each.operators.stream().map(UserFunctions::step).toList(),
                        List.of()))
                .toList();
    }

    private static PatternStep step(String operator) {
        PatternStep step = PatternStep.named(bare(operator));
        return operator.endsWith(OPTIONAL) ? step.orNone() : step;
    }

    @Override
    public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
        External own = find(function);
        List<ExternalCall.Table> tables = new ArrayList<>();
        if (own.constants) {
            for (Binding binding : function.body().chain()) {
                for (Arg arg : binding.args()) {
                    if (arg instanceof Constant constant) {
                        tables.add(new ExternalCall.Table(
                                "constant_" + tables.size(), constant.type().dtype(), constant.data()));
                    }
                }
            }
        }
        return new ExternalCall(tables, 0, "call of " + own.function);
    }

    @Override
    public List<Artifact> generate(ExternalUnit unit) {
        Set<String> headers = unit.functions().stream()
                .map(function -> find(function).header)
                .filter(header -> !header.isEmpty())
                .collect(Collectors.toCollection(java.util.TreeSet::new));
        StringBuilder text = new StringBuilder("// SPDX-License-Identifier: Apache-2.0\n")
                .append("// Generated by Kiln. Kiln claims no rights in its output: it is yours, under any licence you"
                        + " choose.\n\n")
                .append("#include <stdbool.h>\n#include <stdint.h>\n");
        headers.forEach(header -> text.append("#include \"").append(header).append("\"\n"));
        Map<String, List<String>> types = new HashMap<>();
        for (ExternalFunction function : unit.functions()) {
            External own = find(function);
            List<String> parameters =
                    call(function, unit.external(), unit.host()).parameters(function);
            checkTypes(own.function, parameters, types);
            String names = parameters.stream()
                    .map(parameter -> parameter.substring(parameter.lastIndexOf(' ') + 1))
                    .collect(Collectors.joining(", "));
            String list = "(" + String.join(", ", parameters) + ")";
            text.append("\n/* ").append(function.composite().name()).append(", the user's own. */\n");
            text.append("int32_t ").append(own.function).append(list).append(";\n");
            text.append("int32_t ").append(function.symbol()).append(list).append(";\n");
            text.append("int32_t ").append(function.symbol()).append(list).append(" {\n  return ");
            text.append(own.function).append('(').append(names).append(");\n}\n");
        }
        return List.of(Artifact.ofText(NAME, ArtifactKind.SOURCE, unit.file() + ".c", text.toString()));
    }

    /** Checks that a C function has one list of types, whatever the operators that it is called for. */
    private static void checkTypes(String function, List<String> parameters, Map<String, List<String>> types) {
        List<String> own = parameters.stream()
                .map(parameter -> parameter.substring(0, parameter.lastIndexOf(' ')))
                .toList();
        List<String> other = types.putIfAbsent(function, own);
        if (other != null && !other.equals(own)) {
            throw Failure.EXTENSION.exception(
                    "`" + function + "` would be called with (" + String.join(", ", own) + ") and with ("
                            + String.join(", ", other) + ")",
                    WHERE,
                    "one list of types for a function",
                    "Name another function for one of the patterns, or leave the constants out");
        }
    }

    private External find(ExternalFunction function) {
        String name = function.composite().name().substring(NAME.length() + 1);
        return externals.stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no external " + name));
    }
}
