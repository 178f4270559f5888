// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

/**
 * A program and its memory layout.
 *
 * @param program the program
 * @param layout offsets in the workspace
 */
public record PlannedProgram(Program program, WorkspaceLayout layout) {}
