// SPDX-License-Identifier: Apache-2.0
/** Prints the loop IR as text of the LLVM IR (LLVM 20, Language Reference Manual), from which clang makes objects. */
package io.kiln.codegen.llvm;
