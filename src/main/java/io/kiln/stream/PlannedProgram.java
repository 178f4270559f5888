// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

/**
 * A program and where it lies.
 *
 * @param program what runs
 * @param layout offsets in the workspace
 */
public record PlannedProgram(Program program, WorkspaceLayout layout) {}
