// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The memories of a board by use, each by its name: workspace, variables, constants, code.
 *
 * @param workspace the memories of the workspace, which are filled in this order unless their speeds differ; the last one also holds
 *     variables and stack
 * @param constants the memories of weights and tables, likewise; the first one also holds the code
 * @param moreConstants the memory of weights and tables that do not fit in those: the ones that are read least often for their size; empty
 *     if there is none
 * @param parameters first address of the parameters of graphs, in flash sectors of their own up to the end of the
 *     memory; empty if they lie with the constants
 * @param slots where models lie that are replaced in the field; empty if the board has no place for them
 * @param ram what is copied to RAM when a program starts
 */
public record PoolMemories(
        List<String> workspace,
        List<String> constants,
        Optional<String> moreConstants,
        OptionalLong parameters,
        Optional<ModelSlots> slots,
        Copies ram) {
    public PoolMemories {
        workspace = List.copyOf(workspace);
        constants = List.copyOf(constants);
    }

    /**
     * Memories of what is copied to RAM, each by its name; the memory of variables where there is none.
     *
     * @param code of functions
     * @param weights of weights and tables
     */
    public record Copies(Optional<String> code, Optional<String> weights) {}

    /** The memory of functions that are copied to RAM. */
    public String ramCode() {
        return ram.code.orElseGet(this::variables);
    }

    /** The memory of variables and stack. */
    public String variables() {
        return workspace.get(workspace.size() - 1);
    }

    /** The memory of code. */
    public String code() {
        return constants.get(0);
    }
}
