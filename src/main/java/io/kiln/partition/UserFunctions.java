// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Problems;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** C functions of the user that compute chains of operators: a code generator without Java. */
public final class UserFunctions implements ExternalCodegen {
    /** Its name in targets. */
    public static final String NAME = "user";

    private static final Pattern C_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,199}");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9_./+-]{0,200}");
    private static final Pattern OPERATOR = Pattern.compile("[a-z0-9_]+(\\.[a-z0-9_]+)*\\??");
    private static final String OPTIONAL = "?";

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
     * @throws io.kiln.base.KilnException with all of their errors
     */
    public static UserFunctions of(List<External> externals) {
        Problems problems = new Problems();
        String where = "<externals>";
        Set<String> names = new HashSet<>();
        for (External external : externals) {
            if (!C_NAME.matcher(external.name).matches() || !names.add(external.name)) {
                problems.add("an external is named `" + external.name + "`", where, "a C name, each once", "");
            }
            if (!C_NAME.matcher(external.function).matches()
                    || external.function.startsWith("tvmgen_")
                    || external.function.startsWith("kiln_")) {
                problems.add(
                        "the function of `" + external.name + "` is `" + external.function + "`",
                        where,
                        "a C name that begins with neither tvmgen_ nor kiln_",
                        "");
            }
            if (!HEADER.matcher(external.header).matches()) {
                problems.add(
                        "the header of `" + external.name + "` is `" + external.header + "`",
                        where,
                        "a path below src/main/c",
                        "");
            }
            boolean isChain = !external.operators.isEmpty()
                    && external.operators.stream()
                            .allMatch(operator -> OPERATOR.matcher(operator).matches())
                    && !external.operators.get(0).endsWith(OPTIONAL);
            if (!isChain) {
                problems.add(
                        "the operators of `" + external.name + "` are `" + String.join(" ", external.operators) + "`",
                        where,
                        "names such as qnn.add, a ? behind those that may be missing, but not behind the first",
                        "");
            }
        }
        problems.throwIfAny();
        return new UserFunctions(externals);
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
        return operator.endsWith(OPTIONAL)
                ? PatternStep.named(operator.substring(0, operator.length() - 1))
                        .orNone()
                : PatternStep.named(operator);
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
                .append(
                        "// Generated by Kiln. Kiln claims no rights in its output: it is yours, under any licence you choose.\n\n")
                .append("#include <stdbool.h>\n#include <stdint.h>\n");
        headers.forEach(header -> text.append("#include \"").append(header).append("\"\n"));
        for (ExternalFunction function : unit.functions()) {
            External own = find(function);
            List<String> parameters =
                    call(function, unit.external(), unit.host()).parameters(function);
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

    private External find(ExternalFunction function) {
        String name = function.composite().name().substring(NAME.length() + 1);
        return externals.stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no external " + name));
    }
}
