// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import java.util.Map;
import java.util.Optional;

/** Makes object files for code generators that print no C. The compiler half asks for objects, the firmware half has the compilers. */
public interface ObjectCompiler {
    /**
     * The object of a module of LLVM IR.
     *
     * @param name of the object, for messages
     * @param module text of LLVM IR, without triple and data layout
     * @param called C of functions that the module calls: they become a part of the module before it is optimised, and no symbol of the object
     * @throws io.kiln.base.KilnException if the compiler refuses it
     */
    Bytes compileModule(String name, String module, Optional<String> called);

    /**
     * The object of a C file.
     *
     * @param name of the object, for messages
     * @param headers files that it includes, by their names
     * @throws io.kiln.base.KilnException if the compiler refuses it
     */
    Bytes compileC(String name, String source, Map<String, Bytes> headers);
}
