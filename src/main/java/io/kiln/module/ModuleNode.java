// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.LazyList;
import java.util.List;

/**
 * A module with the modules that it imports.
 *
 * @param typeKey kind of module, such as {@code llvm}, {@code cuda} or {@code const_loader}
 * @param payload its content
 * @param imports indices of other modules in the list that holds this one, in order
 */
public record ModuleNode(String typeKey, ModulePayload payload, List<Integer> imports) {
    public ModuleNode {
        imports = LazyList.copyOf(imports);
    }

    /** The same module with other imports. */
    public ModuleNode importing(List<Integer> others) {
        return new ModuleNode(typeKey, payload, others);
    }
}
