// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every operator with constants of which one has no elements: refused by its definition, or computed at build time. */
class EmptyConstantsTest {
    private int computed;

    @Test
    void areRefusedOrComputed() {
        List<String> failures = new ArrayList<>();
        for (Function function : Reader.functions()) {
            Map<Integer, TensorType> types = function.types();
            for (Binding binding : function.bindings()) {
                if (binding.op().has(Trait.OPAQUE) || !binding.op().writes().isEmpty()) {
                    continue;
                }
                List<Constant> args = binding.args().stream()
                        .map(arg ->
                                arg instanceof Constant constant ? constant : zeros(types.get(((Arg.Ref) arg).id())))
                        .toList();
                for (int i = 0; i < args.size(); i++) {
                    for (int axis = 0; axis < args.get(i).type().shape().rank(); axis++) {
                        check(binding, args, i, axis, failures);
                    }
                }
            }
        }
        assertThat(failures).isEmpty();
        assertThat(computed).isPositive();
    }

    private static Constant zeros(TensorType type) {
        return new Constant("", type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())]));
    }

    private void check(Binding binding, List<Constant> args, int position, int axis, List<String> failures) {
        TensorType type = args.get(position).type();
        List<Integer> dims = new ArrayList<>(type.shape().dims());
        dims.set(axis, 0);
        List<Constant> changed = new ArrayList<>(args);
        changed.set(position, zeros(new TensorType(new Shape(dims), type.dtype())));
        String what = binding.op() + " of "
                + changed.stream().map(c -> c.type().text()).toList();
        try {
            TensorType result =
                    binding.op().infer(changed.stream().map(Constant::type).toList());
            if (result.shape().elements() > 0) {
                assertThat(new ConstantFolder(0)
                                .fold(binding.op(), changed, result, what)
                                .elements())
                        .as(what)
                        .isEqualTo((int) result.shape().elements());
                computed++;
            }
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).as(what).isNotBlank();
        } catch (RuntimeException e) {
            failures.add(what + ": " + e + " at " + e.getStackTrace()[0]);
        }
    }
}
