// SPDX-License-Identifier: Apache-2.0
/** Tests of a project's own program: what it says on its console, and unit tests of its C. */
package io.kiln.flow.test;
