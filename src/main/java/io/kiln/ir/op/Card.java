// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What the {@link Signature} of an operator says of one operator with its attributes.
 *
 * @param <O> the operator
 */
public record Card<O extends Op>(Signature<O> signature, O op) {
    List<Operand<O>> arguments() {
        List<Operand<O>> all = new ArrayList<>();
        for (Operand<O> operand : signature.operands()) {
            for (int i = operand.times(op); i > 0; i--) {
                all.add(operand);
            }
        }
        return all;
    }

    int arity() {
        int arity = 0;
        for (Operand<O> operand : signature.operands()) {
            arity += operand.times(op);
        }
        return arity;
    }

    Map<String, Object> attributes() {
        return signature.attributes(op);
    }

    Spelling spelling(List<TensorType> args) {
        return signature.spelling(op, args);
    }

    int operands() {
        int count = arity();
        List<Operand<O>> all = signature.operands();
        for (int i = all.size() - 1; i >= 0; i--) {
            int times = all.get(i).times(op);
            if (times > 0 && all.get(i).isTensor()) {
                break;
            }
            count -= times;
        }
        return count;
    }

    Set<DType> dataTypes() {
        return signature.compiled();
    }

    Set<Trait> traits() {
        return signature.traits();
    }

    Role role(int position) {
        int first = 0;
        for (Operand<O> operand : signature.operands()) {
            first += operand.times(op);
            if (position < first) {
                return operand.role();
            }
        }
        throw new IndexOutOfBoundsException(position);
    }

    List<Integer> writes() {
        List<Operand<O>> all = arguments();
        return IntStream.range(0, all.size())
                .filter(i -> all.get(i).role() == Role.STATE)
                .boxed()
                .toList();
    }

    List<Integer> weights() {
        List<Operand<O>> all = arguments();
        return IntStream.range(0, all.size())
                .filter(i -> all.get(i).kind().weighs())
                .boxed()
                .toList();
    }

    void check(Arguments args) {
        List<Operand<O>> all = arguments();
        for (int i = 0; i < all.size(); i++) {
            all.get(i).check(i, op, args);
        }
        signature.check(op, args);
    }

    TensorType infer(List<TensorType> args) {
        List<Operand<O>> all = arguments();
        Check.arity(op.name(), all.size(), args);
        for (int i = 0; i < all.size(); i++) {
            all.get(i).check(args.get(i), op, args);
        }
        return signature.result(op, args);
    }
}
