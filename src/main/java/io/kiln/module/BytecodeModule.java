// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.util.Map;

/**
 * Code of TVM's virtual machine, which is kept as it is: {@code VMExecutable} (src/runtime/vm/executable.cc).
 *
 * @param code as the virtual machine saves it
 */
public record BytecodeModule(Bytes code) implements ModulePayload {
    static BytecodeModule read(ModuleReader in) {
        return new BytecodeModule(in.string("the virtual machine's code"));
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(code);
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("code.ro", code);
    }
}
