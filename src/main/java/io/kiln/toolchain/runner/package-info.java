// SPDX-License-Identifier: Apache-2.0
/** Programs that write flash, described by data: what they are called with, what they say, and what it means. */
package io.kiln.toolchain.runner;
