// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Bytes;
import io.kiln.frontend.relay.RelayFrontend;
import java.nio.file.Path;
import java.util.Optional;

/** Compiles models that tests state as Relay text. */
public final class CompiledText {
    /** A model whose operator calls one of two functions. */
    public static final String CALLING = """
        def @main(%c: bool, %x: float32) {
          %y = ref(0f);
          %0 = tfl.if(%c, %x, %y, then=@twice, otherwise=@same, inputs=1, results=1, then_variables=[], otherwise_variables=[]);
          %y
        }
        def @twice(%x: float32) { add(%x, %x) }
        def @same(%x: float32) { copy(%x) }
        """;

    private CompiledText() {}

    /** The model of this text, compiled for a Cortex-M4. */
    public static CompiledModel of(String name, String text) {
        CompileRequest request = RequestDraft.of(Path.of(name + ".relay"), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                .name(name)
                .build();
        return ModelCompiler.compile(
                request,
                RelayFrontend.read(Bytes.ofText(text), name + ".relay", Optional.empty(), name + ".params", name));
    }
}
