// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.LazyList;
import java.util.List;

/**
 * Parameters of a model, from which TVM makes an AOT executor: {@code AotExecutorFactory} (src/runtime/aot_executor/aot_executor_factory.cc).
 *
 * @param names names of the parameters
 * @param parameters the parameters, in the order of their names
 * @param model name under which the factory is found
 */
public record AotFactoryModule(List<String> names, List<SerializedArray> parameters, String model)
        implements ModulePayload {
    public AotFactoryModule {
        names = LazyList.copyOf(names);
        parameters = LazyList.copyOf(parameters);
    }

    static AotFactoryModule read(ModuleReader in) {
        FactoryParameters parameters = FactoryParameters.read(in);
        return new AotFactoryModule(parameters.names(), parameters.arrays(), in.text("the model's name"));
    }

    @Override
    public void write(ModuleWriter out) {
        new FactoryParameters(names, parameters).write(out);
        out.string(model);
    }

    @Override
    public List<String> functions() {
        return List.of(model);
    }

    @Override
    public List<String> details() {
        return new FactoryParameters(names, parameters).lines();
    }
}
