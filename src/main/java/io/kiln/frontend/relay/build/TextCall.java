// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * A call in the text with its arguments read.
 *
 * @param bindings gets the operators made by its rule
 * @param name the result's name, for origins
 */
record TextCall(Bindings bindings, Call call, String name, Attributes attributes, List<Value> args)
        implements CallSite {
    TextCall {
        args = List.copyOf(args);
    }

    @Override
    public boolean isOwn() {
        return Annotations.origin(call.comment()).isPresent();
    }

    @Override
    public Arg emit(Op op, List<? extends Arg> operands) {
        return bindings.emit(call, name, op, operands);
    }

    @Override
    public Constant moved(Op op, Constant constant) {
        Constant moved = bindings.moved(call, op, constant);
        return new Constant(constant.name(), moved.type(), moved.data());
    }

    @Override
    public TensorType type(Arg arg) {
        return bindings.graph().type(arg);
    }

    @Override
    public Optional<Binding> producer(Arg arg) {
        return bindings.graph().producer(arg);
    }

    @Override
    public void supersede(Arg arg) {
        bindings.supersede(arg);
    }
}
