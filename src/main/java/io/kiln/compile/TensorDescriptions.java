// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.CNames;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Describes a function's tensors for people and for other programs. */
final class TensorDescriptions {
    private final List<TensorInfo> inputs = new ArrayList<>();
    private final List<TensorInfo> outputs = new ArrayList<>();
    private final Map<Integer, TensorInfo> byId = new HashMap<>();

    private TensorDescriptions() {}

    static TensorDescriptions of(Function function) {
        TensorDescriptions described = new TensorDescriptions();
        Map<Integer, TensorType> types = function.types();
        List<String> cNames = CNames.tensors(
                function.name(),
                function.params().stream().map(Parameter::name).toList(),
                function.results().stream().map(Result::name).toList());
        function.bindings()
                .forEach(b -> described.byId.put(b.id(), info(b.origin().tensor(), "", b.type(), Optional.empty())));
        function.variables().forEach(v -> described.byId.put(v.id(), info(v.name(), "", v.type(), Optional.empty())));
        for (Parameter parameter : function.params()) {
            TensorInfo info = info(
                    parameter.name(), cNames.get(described.inputs.size()), parameter.type(), parameter.quantization());
            described.inputs.add(info);
            described.byId.put(parameter.id(), info);
        }
        for (Result result : function.results()) {
            TensorInfo info = info(
                            result.name(),
                            cNames.get(described.inputs.size() + described.outputs.size()),
                            types.get(result.id()),
                            result.quantization())
                    .labelled(result.labels());
            described.outputs.add(info);
            described.byId.merge(result.id(), info, (inner, output) -> inner.labelled(output.labels()));
        }
        return described;
    }

    private static TensorInfo info(String name, String cName, TensorType type, Optional<Quantization> quantization) {
        return new TensorInfo(
                name,
                cName,
                type.dtype(),
                type.shape().dims(),
                quantization.map(Quantization::scale).orElse(0f),
                quantization.map(Quantization::zeroPoint).orElse(0));
    }

    List<TensorInfo> inputs() {
        return inputs;
    }

    List<TensorInfo> outputs() {
        return outputs;
    }

    TensorInfo describe(int id) {
        return byId.get(id);
    }
}
