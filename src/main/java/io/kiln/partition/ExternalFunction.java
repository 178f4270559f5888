// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.DeviceHooks;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Group.Composite;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A composite as a function of its own, with its constants among the arguments of its operators.
 *
 * @param symbol its C name, {@code tvmgen_<module>_<code generator>_main_<n>}
 * @param composite what it is
 * @param body its operators and the types of their arguments
 * @param device the device that it runs on; empty for the core itself
 */
public record ExternalFunction(String symbol, Composite composite, Match body, Optional<DeviceHooks> device) {
    /** Types of the tensors that it reads, in order. */
    public List<TensorType> inputs() {
        return body.inputs().stream().map(body.types()::get).toList();
    }

    /** Type of the tensor that it computes. */
    public TensorType output() {
        return body.result();
    }

    /**
     * The external functions of a partitioned function in the order of their calls.
     *
     * @param prefix of its C names, such as {@code tvmgen_default}
     * @param devices of code generators, by their names
     * @return by the id that each computes
     */
    public static Map<Integer, ExternalFunction> all(
            Function function, String prefix, java.util.function.Function<String, Optional<DeviceHooks>> devices) {
        Map<Integer, Binding> bindings = function.bindingsById();
        Map<Integer, TensorType> types = function.types();
        Map<Integer, ExternalFunction> functions = new HashMap<>();
        for (Group group : function.groups()) {
            group.composite().ifPresent(composite -> {
                String compiler = composite.compiler().replaceAll("[^A-Za-z0-9_]", "_");
                String symbol = prefix + "_" + compiler + "_main_" + functions.size();
                List<Binding> chain = new ArrayList<>();
                group.bindings().forEach(id -> chain.add(bindings.get(id)));
                functions.put(
                        group.output(),
                        new ExternalFunction(
                                symbol,
                                composite,
                                new Match(chain, types, composite.pattern()),
                                devices.apply(composite.compiler())));
            });
        }
        return functions;
    }
}
