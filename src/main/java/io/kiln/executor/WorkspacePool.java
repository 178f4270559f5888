// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

/**
 * A memory pool that a module's workspace uses.
 *
 * @param name C name
 * @param alignment of its first byte
 * @param start its first address in the memory plan
 * @param bytes used of it, at least 1
 * @param section the linker section of a pool inside the generated C
 */
public record WorkspacePool(String name, int alignment, long start, long bytes, String section) {}
