// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks a function against the rules of the IR: defined before use, unique ids, types as inferred, groups complete.
 */
public final class Verifier {
    private Verifier() {}

    /**
     * Checks the whole function.
     *
     * @throws io.kiln.base.KilnException with every violation
     */
    public static void verify(Function function) {
        Problems problems = new Problems(Failure.MODEL);
        Map<Integer, TensorType> types = new HashMap<>();
        for (Parameter parameter : function.params()) {
            verifyElements(parameter.type(), "an input", parameter.name(), problems);
            if (types.put(parameter.id(), parameter.type()) != null) {
                problems.add(Failure.MODEL.problem("id %" + parameter.id() + " is defined twice", parameter.name()));
            }
        }
        Set<Integer> variables = new HashSet<>();
        for (Variable variable : function.variables()) {
            variables.add(variable.id());
            if (types.put(variable.id(), variable.type()) != null) {
                problems.add(Failure.MODEL.problem("id %" + variable.id() + " is defined twice", variable.name()));
            }
        }
        for (Binding binding : function.bindings()) {
            verifyBinding(binding, function, types, problems);
            verifyWrites(binding, variables, problems);
        }
        for (Result result : function.results()) {
            if (!types.containsKey(result.id())) {
                problems.add(Failure.MODEL.problem("result refers to undefined %" + result.id(), result.name()));
            }
        }
        verifyGroups(function, problems);
        problems.throwIfAny();
        function.functions().forEach(Verifier::verify);
    }

    /**
     * A value without elements is a constant and not computed. An operator that only writes variables has no result.
     */
    private static void verifyElements(TensorType type, String what, String where, Problems problems) {
        if (type.shape().elements() == 0 && !type.equals(TensorType.UNIT)) {
            problems.add(what + " has no elements: " + type.text(), where, "dimensions of at least 1", "");
        }
    }

    private static void verifyBinding(
            Binding binding, Function function, Map<Integer, TensorType> types, Problems problems) {
        String where = binding.origin().text();
        verifyElements(binding.type(), binding.op().name(), where, problems);
        List<TensorType> args = new ArrayList<>();
        for (Arg arg : binding.args()) {
            TensorType type = arg.type(types);
            if (type == null) {
                problems.add(Failure.MODEL.problem(
                        binding.op().name() + " uses %" + ((Arg.Ref) arg).id() + " before it is defined", where));
            } else {
                args.add(type);
            }
        }
        if (args.size() == binding.args().size()) {
            try {
                TensorType inferred = binding.op().infer(args);
                if (!inferred.equals(binding.type())) {
                    problems.add(
                            binding.op().name() + " computes " + inferred.text(),
                            where,
                            binding.type().text(),
                            "");
                }
                CallRules.violations(binding, function, types)
                        .forEach(violation -> problems.add(Failure.MODEL.problem(violation, where)));
            } catch (IllegalArgumentException e) {
                problems.add(Failure.MODEL.problem(e.getMessage(), where));
            }
        }
        if (types.put(binding.id(), binding.type()) != null) {
            problems.add(Failure.MODEL.problem("id %" + binding.id() + " is defined twice", where));
        }
    }

    private static void verifyWrites(Binding binding, Set<Integer> variables, Problems problems) {
        for (int position : binding.op().writes()) {
            if (position < binding.args().size()
                    && !(binding.args().get(position) instanceof Arg.Ref ref && variables.contains(ref.id()))) {
                problems.add(Failure.MODEL.problem(
                        binding.op().name() + " changes argument " + position + ", which is not a variable",
                        binding.origin().text()));
            }
        }
    }

    private static void verifyGroups(Function function, Problems problems) {
        if (function.groups().isEmpty()) {
            return;
        }
        Set<Integer> seen = new HashSet<>();
        for (Group group : function.groups()) {
            for (int id : group.bindings()) {
                if (!seen.add(id)) {
                    problems.add(Failure.MODEL.problem("binding %" + id + " is in two groups", group.name()));
                }
            }
        }
        boolean isFused =
                function.groups().stream().anyMatch(group -> group.composite().isEmpty());
        for (Binding binding : function.bindings()) {
            if (isFused && !seen.contains(binding.id())) {
                problems.add(Failure.MODEL.problem(
                        "binding %" + binding.id() + " is in no group",
                        binding.origin().text()));
            }
        }
    }
}
