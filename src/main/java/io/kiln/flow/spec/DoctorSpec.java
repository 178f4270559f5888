// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.toolchain.compiler.Libc;

/**
 * What a computer has to serve.
 *
 * @param board the board, and its toolchain
 * @param console how the board's console is found
 * @param libc the C library of the project's own code
 * @param testsOnHost whether the project has unit tests that run on this computer
 */
public record DoctorSpec(BoardSpec board, ConsoleSpec console, Libc libc, boolean testsOnHost) {}
