// SPDX-License-Identifier: Apache-2.0
/** What executors share: the planned module that they drive, how it is called, and what they make of it. */
package io.kiln.executor;
