// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.List;
import java.util.Map;

/**
 * Source text that is kept in the blob: the module {@code c}.
 *
 * @param code the source
 * @param format its suffix, such as {@code c} or {@code cc}
 * @param functions names of its functions
 * @param constants names of the constants that it needs
 */
public record SourceModule(Bytes code, String format, List<String> functions, List<String> constants)
        implements ModulePayload {
    public SourceModule {
        functions = LazyList.copyOf(functions);
        constants = LazyList.copyOf(constants);
    }

    static SourceModule read(ModuleReader in) {
        return new SourceModule(
                in.string("the source"), in.text("the source's format"), in.texts("functions"), in.texts("constants"));
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(code).string(format).strings(functions).strings(constants);
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("source." + ModuleFiles.suffix(format), code);
    }
}
